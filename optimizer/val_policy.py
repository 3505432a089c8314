"""The val policy: an accepted child that is clearly dominated is not scored on all of val.

Successive halving (Karnin, Koren and Somekh 2013; Jamieson and Talwalkar 2016) with the candidates
arriving one by one: at each rung the child is held against those that are there, on the same
examples. It is given up only where one of them is better beyond noise and it wins no example that
nobody else wins, for then it could not stay on the Pareto front for long.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..rubrics.statistics import one_sided_margin
from .rollout import Rollout, mean_score, scored_pairs

_FIRST = 8
_RISK = 0.05  # of giving up a child that is as good as all others, at one look
_PRIOR_VARIANCE = 0.25  # of a paired difference of half the scale


def rungs(n: int) -> list[int]:
    """Return after how many of `n` val examples the child is looked at, the whole included.

    Each rung doubles the one before; 32 gives [8, 16, 32], and a remainder joins the last rung.
    """
    found: list[int] = []
    rung = _FIRST
    while rung * 2 <= n:
        found.append(rung)
        rung *= 2
    return [*found, n]


def dominated(child: Sequence[Rollout], others: Sequence[Sequence[Rollout]]) -> str | None:
    """Say why a child needs no more val examples, or return None to go on paying.

    Args:
        child: Its rollouts on the val examples so far.
        others: Those of each candidate it is held against, on the same examples in order.

    Raises:
        ValueError: Some are not of the same examples in the same order.
    """
    if not others or _wins_alone(child, others):
        return None
    confidence = 1 - _RISK / len(others)  # the best of many is best partly by luck (Bonferroni)
    losses = [loss for other in others if (loss := _clear_loss(child, other, confidence))]
    return max(losses)[1] if losses else None


def _wins_alone(child: Sequence[Rollout], others: Sequence[Sequence[Rollout]]) -> bool:
    """Return whether the child scores more than all others somewhere."""
    for place, one in enumerate(child):
        rivals = [other[place].score for other in others]
        scores = [score for score in rivals if score is not None]
        if one.score is not None and (not scores or one.score > max(scores)):
            return True
    return False


def _clear_loss(
    child: Sequence[Rollout], other: Sequence[Rollout], confidence: float
) -> tuple[float, str] | None:
    """Return how much the other is better at least, and a sentence; None when it is not clear."""
    pairs = scored_pairs(child, other)
    scores = [(one.score, rival.score) for one, rival in pairs]
    leads = [rival - own for own, rival in scores if own is not None and rival is not None]
    if not leads:
        return None
    lead = sum(leads) / len(leads)
    least = lead - one_sided_margin(leads, confidence, _PRIOR_VARIANCE)
    if least <= 0:
        return None
    own, rival = (mean_score([pair[side] for pair in pairs]) or 0.0 for side in (0, 1))
    return least, (
        f"dominated after {len(leads)} val examples: {own:.3f}, another candidate {rival:.3f} on "
        f"the same, ahead by {least:.3f} or more with {confidence:.1%} confidence; it wins no "
        "example alone"
    )
