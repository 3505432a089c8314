"""Majority: from several opinions about one question to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum

from ..criterion import Criterion
from ..verdict import Status, Verdict
from .answer import Opinion


def majority(criterion: Criterion, turn: int | None, opinions: Sequence[Opinion]) -> Opinion:
    """Return what repeated judgements amount to; at least one is needed.

    More than half must be usable, and more than half of those must agree whether the criterion
    applies; otherwise it is inconclusive. Of pass and fail the one said more often wins, and a tie
    is inconclusive; of tiers the one nearest to the mean, the lower of two. The confidence is the
    mean of those who agree with the outcome, where the others count as 0.
    """
    if len(opinions) == 1:
        return opinions[0]
    usable = [each for each in opinions if each.verdict.status is not Status.INCONCLUSIVE]
    if 2 * len(usable) <= len(opinions):
        said = f"{len(usable)} of {len(opinions)} answers could be used."
        return _undecided(criterion, turn, said, opinions)
    scored = [each for each in usable if each.verdict.value is not None]
    if 2 * len(scored) == len(usable):
        return _undecided(criterion, turn, "Repeats disagree whether it applies.", opinions)
    if 2 * len(scored) < len(usable):
        return _of(None, opinions)
    value = _outcome(criterion, [each.verdict.value or 0.0 for each in scored])
    if value is None:
        return _undecided(criterion, turn, "As many repeats pass it as fail it.", opinions)
    return _of(value, opinions)


def _outcome(criterion: Criterion, values: Sequence[float]) -> float | None:
    mean = fsum(values) / len(values)
    if isinstance(criterion.scale, str):
        return None if mean == 0.5 else float(mean > 0.5)
    return min(criterion.values, key=lambda value: (abs(value - mean), value))


def _of(value: float | None, opinions: Sequence[Opinion]) -> Opinion:
    """Return the outcome with the reasons of whoever said it, or what is nearest to it."""
    if value is None:
        agreeing = [each for each in opinions if each.verdict.status is Status.NOT_APPLICABLE]
        spokesman = agreeing[0].verdict
    else:
        scored = [each for each in opinions if each.verdict.value is not None]
        agreeing = [each for each in scored if each.verdict.value == value]
        nearest = min(scored, key=lambda each: abs((each.verdict.value or 0.0) - value))
        spokesman = replace(nearest.verdict, value=value)
    return Opinion(spokesman, fsum(each.confidence for each in agreeing) / len(opinions))


def _undecided(
    criterion: Criterion, turn: int | None, said: str, opinions: Sequence[Opinion]
) -> Opinion:
    reasons = dict.fromkeys(each.verdict.rationale for each in opinions)
    rationale = " ".join([said, *reasons])
    return Opinion(
        Verdict(criterion.id, None, Status.INCONCLUSIVE, rationale, turn=turn), confidence=0.0
    )
