"""Feedback: what a proposer reads about a failed call."""

from __future__ import annotations

from collections.abc import Iterable

from .criterion import Criterion
from .rubric import Rubric
from .verdict import Status, Verdict


def feedback_for(verdicts: Iterable[Verdict], rubric: Rubric, why: str) -> str:
    """Say what was wrong, gravest first, and which rule decides it.

    Args:
        verdicts: Of one subject.
        rubric: The rubric they answer to.
        why: The rule behind the gold answer, as a colleague would explain it; may be empty.

    Returns:
        A few lines of plain text: per criterion below its best, what was expected and found. If
        nothing was lost, that is said, so that a proposer sees what must stay.
    """
    lost = [
        (rubric.criterion(verdict.criterion), verdict)
        for verdict in verdicts
        if verdict.status is Status.SCORED and verdict.value != 1.0
    ]
    lost.sort(key=lambda pair: _gravity(*pair), reverse=True)
    lines = [_line(criterion, verdict) for criterion, verdict in lost] or ["Correct: keep this."]
    return "\n".join([*lines, f"Rule: {why}"] if why else lines)


def _gravity(criterion: Criterion, verdict: Verdict) -> tuple[bool, float]:
    return criterion.critical, criterion.points * (1.0 - (verdict.value or 0.0))


def _line(criterion: Criterion, verdict: Verdict) -> str:
    grade = "Critical" if criterion.critical else "Wrong"
    parts = [f"{grade}: {criterion.name}.", verdict.rationale, f"Good: {criterion.best}"]
    return " ".join([*parts, criterion.feedback] if criterion.feedback else parts)
