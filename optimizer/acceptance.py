"""Acceptance: whether a child replaces nothing but joins the pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .rollout import Rollout, mean_score, scored_pairs


@dataclass(frozen=True, slots=True)
class Decision:
    """An acceptance decision with its numbers.

    Attributes:
        accepted: Whether the child joins the pool.
        reason: Why, in a sentence.
        before: The parent's mean over the pairs.
        after: The child's mean over the pairs.
    """

    accepted: bool
    reason: str
    before: float | None
    after: float | None


def decide(before: Sequence[Rollout], after: Sequence[Rollout], min_gain: float = 0.0) -> Decision:
    """Compare a child with its parent on the same examples and repeats.

    The child must gain more than `min_gain` on the mean over the pairs that no fault hit, and
    no critical criterion may fail more often than before.
    """
    pairs = scored_pairs(before, after)
    if not pairs:
        return Decision(False, "no pair without a fault to compare", None, None)
    parent, child = ([pair[side] for pair in pairs] for side in (0, 1))
    low, high = mean_score(parent), mean_score(child)
    assert low is not None
    assert high is not None
    said = f"{low:.3f} → {high:.3f} on {len(pairs)} examples"
    worse = _regressions(parent, child)
    if worse:
        return Decision(
            False, f"critical criterion {worse[0]} fails more often ({said})", low, high
        )
    if high - low <= min_gain:
        return Decision(False, f"not better than its parent ({said})", low, high)
    return Decision(True, f"better than its parent ({said})", low, high)


def _regressions(parent: Sequence[Rollout], child: Sequence[Rollout]) -> list[str]:
    before, after = (
        Counter(name for rollout in side for name in rollout.critical_failures)
        for side in (parent, child)
    )
    return sorted(name for name in after if after[name] > before[name])
