"""Selection: the best candidates run again on fresh repeats, and one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .acceptance import Decision, decide
from .candidate import Candidate, Pool
from .confirmation import Confirmation
from .evaluator import Evaluator
from .example import Example
from .rollout import Rollout, mean_score
from .settings import Selection
from .shrinkage import gain_of, shrunk


@dataclass(frozen=True, slots=True)
class Finalist:
    """A candidate that was run again.

    Attributes:
        candidate: The candidate.
        fresh: Mean score over the fresh repeats, which its luck in the search cannot touch.
        score: Mean over the search's and the fresh rollouts together.
        holds: Whether the fresh repeats alone say that it is better than the seed.
        gain: Gain on the seed over all its rollouts on val, in pairs.
        shrunk: That gain less the luck that is probably in it, which is what to expect.
    """

    candidate: Candidate
    fresh: float | None
    score: float
    holds: Decision
    gain: float
    shrunk: float


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

    The seed runs again too, and stays unless a finalist beats it on the fresh repeats. No critical
    criterion may fail more often with the finalist, neither on val in the search nor on the fresh
    repeats, save what does not happen a second time (`confirmation.py`): a lucky candidate, an
    unlucky seed or a high total is no reason to ship a prompt. The best of several is best partly
    by luck, so they are compared by their shrunk gains.
    Comparisons are pair by pair: what a fault hit on one side counts on neither.
    """
    seed, confirmation = pool.seed, Confirmation.over(evaluator, val)
    ranked = (await _ranked(pool, confirmation, settings))[: settings.finalists]
    again = _Again(val, evaluator, settings.repeats)
    fresh_seed = await again(seed) if ranked else []
    fresh = [await again(one) for one in ranked]
    holds = [
        decide(*await confirmation.confirmed(seed.bundle, one.bundle, fresh_seed, rollouts))
        for one, rollouts in zip(ranked, fresh, strict=True)
    ]
    finalists = _finalists(seed, fresh_seed, ranked, fresh, holds)
    kept = [one for one in finalists if one.holds.accepted]
    if not kept:
        return Choice(seed, tuple(finalists), _why_the_seed(finalists))
    best = max(kept, key=lambda one: (one.shrunk, one.gain, -one.candidate.bundle.length))
    reason = f"best of {len(finalists)} finalists over all their val rollouts ({best.score:.3f})"
    return Choice(best.candidate, tuple(finalists), reason)


async def _ranked(pool: Pool, confirmation: Confirmation, settings: Selection) -> list[Candidate]:
    """Return the candidates that are better than the seed on val, in the order asked for."""
    seed = pool.seed
    decisions = {
        one.number: decide(
            *await confirmation.confirmed(seed.bundle, one.bundle, seed.val, one.val)
        )
        for one in pool.scored()[1:]
    }
    better = [one for one in pool.scored()[1:] if decisions[one.number].accepted]
    if settings.order == "newest":
        return better[::-1]
    return sorted(
        better, key=lambda one: (-decisions[one.number].gain, one.bundle.length, one.number)
    )


@dataclass(frozen=True, slots=True)
class _Again:
    val: Sequence[Example]
    evaluator: Evaluator
    repeats: int

    async def __call__(self, candidate: Candidate) -> list[Rollout]:
        """Return the candidate's rollouts on the fresh repeats."""
        fresh: list[Rollout] = []
        for repeat in range(1, self.repeats + 1):
            fresh += await self.evaluator.evaluate(self.val, candidate.bundle, repeat)
        return fresh


def _finalists(
    seed: Candidate,
    fresh_seed: Sequence[Rollout],
    ranked: Sequence[Candidate],
    fresh: Sequence[Sequence[Rollout]],
    holds: Sequence[Decision],
) -> list[Finalist]:
    everything = [[*one.val, *again] for one, again in zip(ranked, fresh, strict=True)]
    gains = [gain_of([*seed.val, *fresh_seed], rollouts) for rollouts in everything]
    return [
        Finalist(
            candidate,
            mean_score(again),
            mean_score(rollouts) or 0.0,
            held,
            gain.mean,
            expected,
        )
        for candidate, again, held, rollouts, gain, expected in zip(
            ranked, fresh, holds, everything, gains, shrunk(gains), strict=True
        )
    ]


def _why_the_seed(finalists: Sequence[Finalist]) -> str:
    if not finalists:
        return "no candidate beat the seed on val"
    first = finalists[0]
    return (
        f"no finalist beat the seed on fresh repeats of val; candidate {first.candidate.number}: "
        f"{first.holds.reason}"
    )
