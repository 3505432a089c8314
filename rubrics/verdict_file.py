"""Verdicts as JSON: what a person writes down, and what cotune says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..agents.errors import UsageError
from ..agents.problem import problems_of
from .rubric import Rubric
from .scoring import Score
from .verdict import Status, Verdict

NOT_GIVEN = "no verdict was given"


class _Entry(BaseModel):
    """A verdict as a file gives it; with a value, the status is `scored`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    criterion: str
    value: float | None = Field(default=None, ge=0.0, le=1.0)
    status: Status = Status.SCORED
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    agent: str | None = None
    turn: int | None = Field(default=None, ge=0)
    confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    pass_probability: float | None = Field(default=None, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _value_goes_with_status(self) -> _Entry:
        if (self.status is Status.SCORED) != (self.value is not None):
            raise ValueError(
                "give a value, or the status not_applicable or inconclusive without one"
            )
        return self


class _Entries(BaseModel):
    verdicts: tuple[_Entry, ...]


def read_verdicts(text: str, rubric: Rubric, source: str) -> tuple[Verdict, ...]:
    """Read a JSON list of verdicts on one subject.

    Each is `{"criterion": …, "value": …}`, or has a `status` in place of the value; `turn` (from
    0) is needed where a criterion is scored turn by turn. Criteria that are left out do not apply.

    Args:
        text: The list.
        rubric: The rubric the verdicts answer to.
        source: Where the text comes from, for messages.

    Raises:
        UsageError: It is no such list, or does not fit the rubric; every problem is named.
    """
    try:
        data = json.loads(text)
        entries = _Entries.model_validate({"verdicts": data}).verdicts
    except ValidationError as error:
        said = "; ".join(f"{_place(at)}: {what}" for at, what in problems_of(error, _Entries))
        raise UsageError(f"The verdicts in {source} cannot be used. {said}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The verdicts in {source} are not JSON: {error}.") from error
    problems = _misfits(entries, rubric)
    if problems:
        raise UsageError(
            f"The verdicts in {source} do not fit the rubric '{rubric.id}'. {'; '.join(problems)}."
        )
    given = [Verdict(**dict(entry)) for entry in entries]
    named = {verdict.criterion for verdict in given}
    missing = [criterion.id for criterion in rubric.criteria if criterion.id not in named]
    left_out = [Verdict(id_, None, Status.NOT_APPLICABLE, NOT_GIVEN) for id_ in missing]
    return (*given, *left_out)


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON values that `read_verdicts` reads."""
    return {**asdict(verdict), "status": str(verdict.status), "evidence": list(verdict.evidence)}


def score_json(score: Score) -> dict[str, Any]:
    """Return a score as JSON values, criterion by criterion and whole."""
    return {
        "score": score.score,
        "passed": score.passed,
        "objective": score.objective,
        "gate": str(score.gate),
        "critical_failures": list(score.critical_failures),
        "judge_fault": score.judge_fault,
        "undecided": score.undecided,
        "not_applicable": score.not_applicable,
        "inconclusive": score.inconclusive,
        "domains": dict(score.domains),
        "criteria": {
            name: {**asdict(reached), "status": str(reached.status)}
            for name, reached in score.criteria.items()
        },
    }


def _misfits(entries: Sequence[_Entry], rubric: Rubric) -> list[str]:
    known = {criterion.id: criterion for criterion in rubric.criteria}
    said: list[str] = []
    for number, entry in enumerate(entries, start=1):
        criterion = known.get(entry.criterion)
        if criterion is None:
            said.append(f"entry {number}: found '{entry.criterion}'; known: {', '.join(known)}")
        elif entry.value is not None and not criterion.allows(entry.value):
            scale = ", ".join(f"{value:g}" for value in criterion.values)
            said.append(f"entry {number}, {criterion.id}: found {entry.value:g}; allowed: {scale}")
    return said


def _place(at: tuple[str | int, ...]) -> str:
    entry = [f"entry {part + 1}" for part in at[1:2] if isinstance(part, int)]
    return ", ".join([*entry, *(str(part) for part in at[2:])]) or "the file"
