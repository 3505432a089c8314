"""Selection: the best candidates run again on fresh repeats, and one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .acceptance import Decision, decide
from .candidate import Candidate, Pool
from .evaluator import Evaluator
from .example import Example
from .rollout import Rollout, mean_score
from .settings import Selection


@dataclass(frozen=True, slots=True)
class Finalist:
    """A candidate that was run again.

    Attributes:
        candidate: The candidate.
        fresh: Mean score over the fresh repeats, which its luck in the search cannot touch.
        score: Mean over the search's and the fresh rollouts together.
        holds: Whether the fresh repeats alone say that it is better than the seed.
        gain: Gain on the seed over all its rollouts on val, in pairs.
    """

    candidate: Candidate
    fresh: float | None
    score: float
    holds: Decision
    gain: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The winner and how it was chosen."""

    winner: Candidate
    finalists: tuple[Finalist, ...]
    reason: str


async def choose(
    pool: Pool, val: Sequence[Example], evaluator: Evaluator, settings: Selection
) -> Choice:
    """Run the finalists again on val and choose the best by all their rollouts.

    The seed stays unless a finalist's fresh repeats beat it, no critical criterion failing more
    often: a lucky val score is no reason to ship a prompt. Comparisons are with the seed, pair by
    pair, so that what a fault hit on one side counts on neither.
    """
    seed = pool.seed
    finalists = [
        await _run_again(one, seed, val, evaluator, settings.repeats)
        for one in _ranked(pool)[: settings.finalists]
    ]
    kept = [one for one in finalists if one.holds.accepted]
    if not kept:
        return Choice(seed, tuple(finalists), _why_the_seed(finalists))
    best = max(kept, key=lambda one: (one.gain, -one.candidate.bundle.length))
    reason = f"best of {len(finalists)} finalists over all their val rollouts ({best.score:.3f})"
    return Choice(best.candidate, tuple(finalists), reason)


def _ranked(pool: Pool) -> list[Candidate]:
    """Return the candidates that are better than the seed on val, best first."""
    decisions = {one.number: decide(pool.seed.val, one.val) for one in pool.scored()[1:]}
    better = [one for one in pool.scored()[1:] if decisions[one.number].accepted]
    return sorted(
        better, key=lambda one: (-decisions[one.number].gain, one.bundle.length, one.number)
    )


async def _run_again(
    candidate: Candidate,
    seed: Candidate,
    val: Sequence[Example],
    evaluator: Evaluator,
    repeats: int,
) -> Finalist:
    fresh: list[Rollout] = []
    for repeat in range(1, repeats + 1):
        fresh += await evaluator.evaluate(val, candidate.bundle, repeat)
    everything = [*candidate.val, *fresh]
    return Finalist(
        candidate,
        mean_score(fresh),
        mean_score(everything) or 0.0,
        decide([*seed.val] * repeats, fresh),
        decide([*seed.val] * (repeats + 1), everything).gain,
    )


def _why_the_seed(finalists: Sequence[Finalist]) -> str:
    if not finalists:
        return "no candidate beat the seed on val"
    first = finalists[0]
    return (
        f"no finalist beat the seed on fresh repeats of val; candidate {first.candidate.number}: "
        f"{first.holds.reason}"
    )
