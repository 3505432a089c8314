"""Acceptance: whether a child is better than its parent, or a finalist than the seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from ..agents.prompts import PromptBundle
from ..agents.worked_examples import split_examples
from .rollout import Rollout, mean_score, scored_pairs

_MIN_SHARE = 0.8


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

    @property
    def gain(self) -> float:
        """Child minus parent; 0 when there was nothing to compare."""
        return 0.0 if self.before is None or self.after is None else self.after - self.before


def decide(before: Sequence[Rollout], after: Sequence[Rollout], min_gain: float = 0.0) -> Decision:
    """Compare a child with its parent, rollout by rollout on the same examples.

    The child must gain more than `min_gain` on the mean over the pairs that no fault hit, and
    no critical criterion may fail more often than before. Where faults hit more than a fifth of
    the pairs nothing is accepted: a prompt must not win by hiding its worst examples.

    Raises:
        ValueError: The two are not of the same examples in the same order.
    """
    pairs = scored_pairs(before, after)
    if not before:
        return Decision(
            False, "the prompt quotes every example; none is left to compare", None, None
        )
    if len(pairs) < _MIN_SHARE * len(before):
        said = f"faults left {len(pairs)} of {len(before)} pairs, too few to compare"
        return Decision(False, said, None, None)
    low, high = (mean_score([pair[side] for pair in pairs]) for side in (0, 1))
    assert low is not None
    assert high is not None
    said = f"{low:.3f} → {high:.3f} on {len(pairs)} examples"
    if worse := critical_regressions(before, after):
        name = next(iter(worse))
        return Decision(False, f"critical criterion {name} fails more often ({said})", low, high)
    if high - low <= min_gain:
        return Decision(False, f"not better ({said})", low, high)
    return Decision(True, f"better ({said})", low, high)


def unquoted(
    before: Sequence[Rollout], after: Sequence[Rollout], *bundles: PromptBundle
) -> tuple[list[Rollout], list[Rollout]]:
    """Leave out the examples that one of the bundles holds as worked examples.

    It was told their answers, so they would only show that it can repeat them.
    """
    quoted = {
        example.inputs
        for bundle in bundles
        for prompt in bundle.values()
        for example in split_examples(prompt.text)[1]
    }
    kept = [
        pair
        for pair in zip(before, after, strict=True)
        if not any(lesson.inputs in quoted for lesson in chain(*pair[0].lessons.values()))
    ]
    return [pair[0] for pair in kept], [pair[1] for pair in kept]


def critical_regressions(
    before: Sequence[Rollout], after: Sequence[Rollout]
) -> dict[str, tuple[int, int]]:
    """Return the critical criteria that fail more often after than before, with both counts.

    What a fault hit on one side counts on neither.

    Raises:
        ValueError: The two are not of the same examples in the same order.
    """
    pairs = scored_pairs(before, after)
    counts = [
        Counter(name for pair in pairs for name in pair[side].critical_failures) for side in (0, 1)
    ]
    return {
        name: (counts[0][name], counts[1][name])
        for name in sorted(counts[1])
        if counts[1][name] > counts[0][name]
    }
