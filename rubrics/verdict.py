"""Verdicts: what was decided about one criterion, why, and where it went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Whether a criterion got a value. Only `SCORED` ever enters a score."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found out.

    Attributes:
        status: Whether there is a value.
        value: In [0, 1] when scored (1 is best), otherwise None.
        rationale: One or two sentences: what was expected and what was found.
        evidence: What was looked at, one item each.
        turn: The turn (from 0) that decided it, when the check knows it.
        agent: The agent concerned, when the check knows it.
    """

    status: Status
    value: float | None
    rationale: str
    evidence: tuple[str, ...] = ()
    turn: int | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        _require_consistent(self.status, self.value)

    @classmethod
    def scored(
        cls,
        value: float,
        rationale: str,
        evidence: tuple[str, ...] = (),
        *,
        turn: int | None = None,
        agent: str | None = None,
    ) -> Finding:
        """Give a value in [0, 1]."""
        return cls(Status.SCORED, float(value), rationale, evidence, turn, agent)

    @classmethod
    def not_applicable(cls, rationale: str, evidence: tuple[str, ...] = ()) -> Finding:
        """Say that the criterion does not concern this subject."""
        return cls(Status.NOT_APPLICABLE, None, rationale, evidence)

    @classmethod
    def inconclusive(cls, rationale: str, evidence: tuple[str, ...] = ()) -> Finding:
        """Say that the criterion applies, but that nothing reliable can be said."""
        return cls(Status.INCONCLUSIVE, None, rationale, evidence)


def worst(findings: Sequence[Finding]) -> Finding:
    """Return what decides about several things together; there must be at least one.

    It is the first of the lowest values below 1, else what is inconclusive, else what has a
    value, else what does not apply.
    """
    scored = [each for each in findings if each.value is not None]
    lowest = min(scored, key=lambda each: each.value or 0.0, default=None)
    if lowest is not None and lowest.value != 1.0:
        return lowest
    undecided = [each for each in findings if each.status is Status.INCONCLUSIVE]
    return [*undecided, *scored, *findings][0]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding with its criterion and place.

    Attributes:
        criterion: The criterion's id.
        value: In [0, 1] when scored (1 is best), otherwise None.
        status: Whether there is a value.
        rationale: One or two sentences: what was expected and what was found.
        evidence: What was looked at, one item each.
        agent: The agent at fault or concerned, when known.
        turn: The turn (from 0) that it is about, or where it went wrong, when known.
        confidence: How sure a judge says it is, in [0, 1]; None when nobody said.
        pass_probability: In [0, 1], of a judge that gives one; None of others.
    """

    criterion: str
    value: float | None
    status: Status
    rationale: str
    evidence: tuple[str, ...] = ()
    agent: str | None = None
    turn: int | None = None
    confidence: float | None = None
    pass_probability: float | None = None

    def __post_init__(self) -> None:
        _require_consistent(self.status, self.value)


def _require_consistent(status: Status, value: float | None) -> None:
    if (status is Status.SCORED) != (value is not None):
        raise ValueError(f"a value goes with the status 'scored' only: {status=}, {value=}")
    if value is not None and not 0.0 <= value <= 1.0:
        raise ValueError(f"a verdict's value must be in [0, 1]: {value}")
