"""The rows of the report's held-out table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..optimizer.held_out import Comparison
from ..rubrics.statistics import Interval
from .run_record import RunRecord


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval as a bar in a cell whose middle is 0; all in percent of the cell's width."""

    left: float
    width: float
    mean: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the held-out table.

    Attributes:
        name: What is compared.
        critical: Whether it is critical.
        comparison: The comparison.
        bar: Its interval; to the right is better, of a rate of failures the lower one.
    """

    name: str
    critical: bool
    comparison: Comparison
    bar: Bar


def held_out_rows(record: RunRecord) -> list[Row]:
    """Return the overall comparison, those of its parts in the rubric's order, and of failures."""
    if record.held_out is None:
        return []
    named = list(_named(record))
    reach = max(_reach(comparison.difference) for _, _, _, comparison in named) or 1.0
    return [
        Row(title, critical, comparison, _bar(comparison.difference, reach, sign))
        for title, critical, sign, comparison in named
    ]


def _named(record: RunRecord) -> Iterator[tuple[str, bool, int, Comparison]]:
    """Yield title, whether it is critical, whether more is better (1 or -1), and comparison."""
    held_out = record.held_out
    assert held_out is not None
    yield "Overall", False, 1, held_out.overall
    critical = {one.id for one in record.criteria if one.critical and record.kind == "agent"}
    for name, title in record.objective_titles.items():
        if name in held_out.objectives:
            yield title, name in critical, 1, held_out.objectives[name]
    for name, title in record.criterion_titles.items():
        if name in held_out.critical:
            yield f"{title}: rate of failures", True, -1, held_out.critical[name]


def _reach(difference: Interval) -> float:
    ends = (difference.mean, difference.low, difference.high)
    return max(abs(end) for end in ends if end is not None)


def _bar(difference: Interval, reach: float, sign: int) -> Bar:
    def place(value: float) -> float:
        return round(50 + sign * 48 * value / reach, 2)

    low = difference.mean if difference.low is None else difference.low
    high = difference.mean if difference.high is None else difference.high
    left, right = sorted((place(low), place(high)))
    return Bar(left, round(right - left, 2), place(difference.mean))
