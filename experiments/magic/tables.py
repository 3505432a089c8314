"""The tables of a comparison, as rows of text: the same for terminal and page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...optimizer.held_out import Comparison
from ...rubrics.statistics import Interval
from .arms import WHOLE, Arm
from .record import MagicRecord, NodeRecord

_MISSING = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: What it shows.
        columns: Heads; the first column is text, the others are numbers.
        rows: As many cells each; a cell may have two lines.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def scores_table(record: MagicRecord) -> Table:
    """Each arm's score per domain and overall, points of 100, with its interval."""
    rows = [
        [_named(name, record, domain), *(_points(arm.domains.get(domain)) for arm in record.arms)]
        for domain, name in record.domains.items()
    ]
    rows.append(["Overall", *(_points(arm.overall) for arm in record.arms)])
    rows.append(["Rollouts spent", *(f"{arm.rollouts:,}" for arm in record.arms)])
    columns = ["", *(f"({arm.arm}) {arm.title}" for arm in record.arms)]
    title = (
        f"Measured: points of 100 on {record.scenarios['test']} held-out scenarios, 95 % intervals"
    )
    return Table(title, columns, rows)


def differences_table(record: MagicRecord) -> Table:
    """Each pair of arms, per domain and overall, points, with the paired interval."""
    names = (name.split()[0] for name in record.domains.values())  # eight columns are wide
    columns = ["", *names, "Overall", "p (Holm)"]
    rows = []
    for pair in record.pairs:
        by_domain = pair.held_out.objectives
        cells = (_difference(by_domain.get(domain)) for domain in record.domains)
        overall = _difference(pair.held_out.overall)
        rows.append([f"({pair.after}) − ({pair.before})", *cells, overall, f"{pair.p_value:.3f}"])
    return Table("Differences in pairs, points, with 95 % intervals", columns, rows)


def published_table(record: MagicRecord) -> Table:
    """The published numbers."""
    shown = record.published
    rows = [[row.name, f"{row.before:.1f}", f"{row.after:.1f}"] for row in shown.rows]
    return Table(f"Published ({shown.source})", ["", shown.before, shown.after], rows)


def nodes_table(record: MagicRecord) -> Table:
    """What came of each stage; val and test are gains of the winner on the start."""
    columns = ("", "spent", "taken", "winner", "val", "test", "overfit", "verdict")
    rows = [
        [
            f"({node.arm}) {'all' if node.node == WHOLE else node.node}",
            f"{node.spent}/{node.allowed}",
            f"{node.accepted}/{node.candidates}",
            str(node.winner) if node.winner else "start",
            points_gained(node.val_gain) if node.winner else _MISSING,
            points_gained(node.test_gain),
            points_gained(node.overfit),
            _verdict(node),
        ]
        for node in record.nodes
    ]
    return Table(
        "Stages: rollouts, candidates, and gains by the stage's own score, points", columns, rows
    )


def safety(record: MagicRecord) -> Iterator[str]:
    """Say which arms fail a critical criterion more often than the seed."""
    for arm in record.arms:
        held_out = record.pair(Arm.SEED, arm.arm)
        for said in () if held_out is None else held_out.safety:
            yield f"({arm.arm}) is not deployable: {said}."


def _named(name: str, record: MagicRecord, domain: str) -> str:
    """Say of how many scenarios a domain's score is, where that is not all of them."""
    counts = [arm.domains[domain].n for arm in record.arms if domain in arm.domains]
    applied = max(counts, default=0)
    tests = max((arm.overall.n for arm in record.arms if arm.overall), default=0)
    return name if applied in (0, tests) else f"{name}\n{applied} of {tests}"


def _verdict(node: NodeRecord) -> str:
    return str(node.conclusion).replace("_", " ") if node.test_gain is not None else "not tested"


def _points(interval: Interval | None) -> str:
    if interval is None:
        return _MISSING
    if interval.low is None or interval.high is None:
        return f"{100 * interval.mean:.1f}"
    low, high = max(0.0, interval.low), min(1.0, interval.high)  # no score lies outside
    return f"{100 * interval.mean:.1f}\n{100 * low:.1f} to {100 * high:.1f}"


def _difference(comparison: Comparison | None) -> str:
    if comparison is None:
        return _MISSING
    interval = comparison.difference
    if interval.low is None or interval.high is None:
        return points_gained(interval.mean)
    mean, low, high = map(points_gained, (interval.mean, interval.low, interval.high))
    return f"{mean}\n{low} to {high}"


def points_gained(value: float | None) -> str:
    """Write a difference, 0 to 1, in points of 100; what rounds to 0 has no sign."""
    if value is None:
        return _MISSING
    return f"{100 * value:+z.1f}".replace("-", "−") if round(100 * value, 1) else "0.0"
