"""Two judges, or one before and after a change, held against the same gold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .clustered_estimate import Estimate, Resampling, estimate
from .comparison import Measure, Pair, Scale, statistics, tables_by_conversation
from .statistics import Floats

_LEAST = -2.0  # from a coefficient of 1 to one of -1


def paired_differences(
    before: Sequence[Pair], after: Sequence[Pair], scale: Scale, resampling: Resampling
) -> dict[Measure, Estimate]:
    """Return what every measure gained, with its interval over conversations.

    Both are resampled together, so what makes a conversation hard for both does not widen the
    interval.

    Args:
        before: The gold with what one of them says.
        after: The same items with what the other says.
        scale: The criterion's values.
        resampling: How the intervals are found.

    Raises:
        ValueError: They are not about the same items.
    """
    first, second = (tables_by_conversation(pairs, scale) for pairs in (before, after))
    if first.keys() != second.keys() or any(
        not np.allclose(first[name].sum(1), second[name].sum(1)) for name in first
    ):
        raise ValueError("a paired difference needs the same items and gold on both sides")
    size = len(scale.values)
    names = sorted(first)
    features = np.array([[first[name], second[name]] for name in names])
    rows = features.reshape(len(names), 2 * size * size)
    n = round(sum(pair.weight for pair in before))

    def gained(measure: Measure, sums: Floats) -> Floats:
        tables = sums.reshape(*sums.shape[:-1], 2, size, size)
        values = statistics(scale)[measure](tables)
        return values[..., 1] - values[..., 0]

    return {
        measure: estimate(
            lambda sums, measure=measure: gained(measure, sums), rows, n, _LEAST, resampling
        )
        for measure in statistics(scale)
    }
