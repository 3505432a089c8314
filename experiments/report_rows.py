"""The rows of the report's tables: the test, the candidates, what was spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..agents.ledger import Usage
from ..optimizer.held_out import Comparison
from ..rubrics.statistics import Interval
from .lineage import line_of
from .record_parts import CandidateRecord
from .record_spending import UsageRecord
from .run_record import RunRecord

MOST_CANDIDATES = 200


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


@dataclass(frozen=True, slots=True)
class RoleCost:
    """What the models in one role used.

    Attributes:
        role: The role.
        usage: All its agents together.
        replayed: Calls answered from the journal.
        agents: Each of them, where they have names.
    """

    role: str
    usage: Usage
    replayed: int
    agents: tuple[UsageRecord, ...]


@dataclass(frozen=True, slots=True)
class _Named:
    """A comparison with its title; `sign` is -1 where less is better."""

    group: str
    title: str
    critical: bool
    sign: int
    comparison: Comparison


def held_out_rows(record: RunRecord) -> dict[str, list[Row]]:
    """Return the rows by group: overall, domains, criteria, and rates of failures."""
    if record.held_out is None:
        return {}
    named = list(_named(record))
    reach = min(1.0, max(_reach(one.comparison.difference) for one in named)) or 1.0
    groups: dict[str, list[Row]] = {}
    for one in named:
        bar = _bar(one.comparison.difference, reach, one.sign)
        groups.setdefault(one.group, []).append(Row(one.title, one.critical, one.comparison, bar))
    return groups


def candidate_rows(record: RunRecord) -> list[CandidateRecord]:
    """Return the candidates to list, by number: of very many those that mattered most."""
    line = {one.number for one in line_of(record, record.winner)}
    finalists = {one.number for one in record.finalists}

    def rank(one: CandidateRecord) -> int:
        marks = (
            one.number in line,
            one.number in finalists,
            one.on_example_front or one.on_objective_front,
            one.val_score is not None,
        )
        return next((place for place, mark in enumerate(marks) if mark), len(marks))

    kept = sorted(record.candidates, key=rank)[:MOST_CANDIDATES]
    return sorted(kept, key=lambda one: one.number)


def role_costs(record: RunRecord) -> list[RoleCost]:
    """Return what was used by role, in the record's order."""
    return [
        RoleCost(
            role,
            usage,
            sum(one.calls for one in record.invocation.replays if one.role == role),
            tuple(one for one in record.usage if one.role == role and one.agent),
        )
        for role, usage in record.by_role.items()
    ]


def _named(record: RunRecord) -> Iterator[_Named]:
    held_out = record.held_out
    assert held_out is not None
    yield _Named("", "Overall", False, 1, held_out.overall)
    of_calls = record.kind == "agent"
    critical = {one.id for one in record.criteria if one.critical}
    group = "By criterion" if of_calls else "By domain"
    for name, title in record.objective_titles.items():
        if name in held_out.objectives:
            yield _Named(group, title, of_calls and name in critical, 1, held_out.objectives[name])
    criteria = {} if of_calls or record.detail is None else record.detail.criteria
    for name, title in record.criterion_titles.items():
        if name in criteria:
            yield _Named("By criterion", title, name in critical, 1, criteria[name])
    for name, title in record.criterion_titles.items():
        if name in held_out.critical:
            yield _Named("How often it failed: less is better", f"{title}: rate of failures",
                         True, -1, held_out.critical[name])  # fmt: skip


def _reach(difference: Interval) -> float:
    ends = (difference.mean, difference.low, difference.high)
    return max(abs(end) for end in ends if end is not None)


def _bar(difference: Interval, reach: float, sign: int) -> Bar:
    def place(value: float) -> float:
        return round(50 + sign * 48 * max(-1.0, min(1.0, value / reach)), 2)

    low = difference.mean if difference.low is None else difference.low
    high = difference.mean if difference.high is None else difference.high
    left, right = sorted((place(low), place(high)))
    return Bar(left, round(right - left, 2), place(difference.mean))
