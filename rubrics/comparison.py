"""Comparisons: one side's values held against another's, on one criterion.

The rows are people's gold, the columns a judge; or, for what people themselves reach, all other
annotators and the one that was left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np

from .agreement_coefficients import (
    Flags,
    balanced_accuracy,
    cohen_kappa,
    failure_precision,
    failure_recall,
    gwet_ac1,
    raw_agreement,
)
from .clustered_estimate import Estimate, Resampling, Statistic, estimate
from .statistics import Floats


class Measure(StrEnum):
    """What is said of two sides.

    Attributes:
        RAW: Share of items with the same value.
        KAPPA: Cohen's kappa; of more than two values with quadratic weights.
        AC1: Gwet's AC1, without weights.
        BALANCED: Balanced accuracy.
        FAILURE_RECALL: Share of the gold's failures that were found.
        FAILURE_PRECISION: Share of the failures said that are failures in the gold.
    """

    RAW = "raw_agreement"
    KAPPA = "kappa"
    AC1 = "ac1"
    BALANCED = "balanced_accuracy"
    FAILURE_RECALL = "failure_recall"
    FAILURE_PRECISION = "failure_precision"


SHARES = (Measure.RAW, Measure.BALANCED, Measure.FAILURE_RECALL, Measure.FAILURE_PRECISION)


@dataclass(frozen=True, slots=True)
class Scale:
    """The values of a criterion.

    Attributes:
        values: Ascending.
        fails: For each, whether it is a failure; all false where nothing says so.
    """

    values: tuple[float, ...]
    fails: tuple[bool, ...]

    @property
    def has_failures(self) -> bool:
        """Whether it is known which values are failures."""
        return any(self.fails)


@dataclass(frozen=True, slots=True)
class Pair:
    """An item's values on both sides.

    Attributes:
        conversation: The conversation it belongs to.
        gold: The first side's value, on the scale.
        said: The second side's, on the scale.
        weight: What it counts. Where people are split evenly, each of their values has a pair of
            its own, and these weigh 1 together.
        probability: Of a pass, in [0, 1], where the second side gives one.
    """

    conversation: str
    gold: float
    said: float
    weight: float = 1.0
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides on one criterion.

    Attributes:
        scale: Its values.
        n: Number of items with a value on both sides, by weight.
        conversations: Number of conversations they belong to.
        confusion: `confusion[i][j]` items are `scale.values[i]` in the gold and
            `scale.values[j]` on the other side.
        estimates: What follows; a measure that the data do not define has no value.
    """

    scale: Scale
    n: int
    conversations: int
    confusion: tuple[tuple[float, ...], ...]
    estimates: dict[Measure, Estimate]

    def value(self, measure: Measure) -> float | None:
        """Return a measure; None when it is not defined, or not of this scale."""
        found = self.estimates.get(measure)
        return found.value if found else None

    @property
    def gold_counts(self) -> tuple[float, ...]:
        """How often each value is in the gold."""
        return tuple(sum(row) for row in self.confusion)

    @property
    def said_counts(self) -> tuple[float, ...]:
        """How often the other side gave each value."""
        return tuple(sum(column) for column in zip(*self.confusion, strict=True))


def compare(pairs: Sequence[Pair], scale: Scale, resampling: Resampling) -> Comparison:
    """Compare two sides, with intervals over conversations."""
    tables = tables_by_conversation(pairs, scale)
    counts = np.array(list(tables.values())).reshape(len(tables), *[len(scale.values)] * 2)
    return Comparison(
        scale=scale,
        n=round(counts.sum()),
        conversations=len(tables),
        confusion=tuple(tuple(map(float, row)) for row in counts.sum(0)),
        estimates={
            measure: _estimated(measure, statistic, counts, scale, resampling)
            for measure, statistic in statistics(scale).items()
        },
    )


def statistics(scale: Scale) -> dict[Measure, Statistic]:
    """Return the measures of a scale, as functions of tables `(..., K, K)`."""
    fails = np.array(scale.fails)
    weighting = "quadratic" if len(scale.values) > 2 else "equal"
    measures: dict[Measure, Statistic] = {
        Measure.RAW: raw_agreement,
        Measure.KAPPA: partial(cohen_kappa, weighting=weighting),
        Measure.AC1: gwet_ac1,
        Measure.BALANCED: balanced_accuracy,
    }
    if scale.has_failures:
        measures[Measure.FAILURE_RECALL] = partial(failure_recall, fails=fails)
        measures[Measure.FAILURE_PRECISION] = partial(failure_precision, fails=fails)
    return measures


def tables_by_conversation(pairs: Sequence[Pair], scale: Scale) -> dict[str, Floats]:
    """Return each conversation's table of counts, `(K, K)`."""
    place = {value: index for index, value in enumerate(scale.values)}
    size = len(scale.values)
    tables: dict[str, Floats] = {}
    for pair in pairs:
        table = tables.setdefault(pair.conversation, np.zeros((size, size)))
        table[place[pair.gold], place[pair.said]] += pair.weight
    return tables


def _estimated(
    measure: Measure,
    statistic: Statistic,
    counts: Floats,
    scale: Scale,
    resampling: Resampling,
) -> Estimate:
    """Estimate a measure over the conversations that bear on it."""
    cells = _cells(measure, counts, np.array(scale.fails))
    bearing = counts[cells.sum((-2, -1)) > 0]
    size = len(scale.values)

    def of_rows(sums: Floats) -> Floats:
        return statistic(sums.reshape(*sums.shape[:-1], size, size))

    rows = bearing.reshape(len(bearing), size * size)
    least = 0.0 if measure in SHARES else -1.0
    return estimate(of_rows, rows, round(cells.sum()), least, resampling)


def _cells(measure: Measure, counts: Floats, fails: Flags) -> Floats:
    """Return the cells of all tables that a measure rests on."""
    match measure:
        case Measure.FAILURE_RECALL:
            return counts[:, fails, :]
        case Measure.FAILURE_PRECISION:
            return counts[:, :, fails]
        case _:
            return counts
