"""Selection: the best candidates run again on fresh repeats, and one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """

    candidate: Candidate
    fresh: float | None
    score: float


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

    The seed stays when no finalist's fresh repeats beat it: a lucky val score is no reason to
    ship a prompt.
    """
    seed = pool.seed
    better = [one for one in pool.scored()[1:] if _val(one) > _val(seed)]
    ranked = sorted(better, key=lambda one: (-_val(one), one.bundle.length, one.number))
    finalists = [
        await _run_again(one, val, evaluator, settings.repeats)
        for one in ranked[: settings.finalists]
    ]
    kept = [one for one in finalists if one.fresh is not None and one.fresh > _val(seed)]
    if not kept:
        reason = (
            "no candidate beat the seed on val"
            if not finalists
            else "no finalist beat the seed on fresh repeats of val"
        )
        return Choice(seed, tuple(finalists), reason)
    best = max(kept, key=lambda one: (one.score, -one.candidate.bundle.length))
    reason = f"best of {len(finalists)} finalists over all their val rollouts ({best.score:.3f})"
    return Choice(best.candidate, tuple(finalists), reason)


async def _run_again(
    candidate: Candidate, val: Sequence[Example], evaluator: Evaluator, repeats: int
) -> Finalist:
    fresh: list[Rollout] = []
    for repeat in range(1, repeats + 1):
        fresh += await evaluator.evaluate(val, candidate.bundle, repeat)
    together = mean_score([*candidate.val, *fresh])
    return Finalist(candidate, mean_score(fresh), 0.0 if together is None else together)


def _val(candidate: Candidate) -> float:
    score = candidate.val_score
    return float("-inf") if score is None else score
