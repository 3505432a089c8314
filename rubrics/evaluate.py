"""Evaluating: from a rubric and one subject to a verdict for every criterion."""

from __future__ import annotations

from .checks.registry import find_check
from .rubric import CheckSpec, Criterion, Rubric
from .subject import CallRecord, Subject, SubjectKind
from .verdict import Finding, Verdict

NEEDS_A_JUDGE = "needs a judge"


def evaluate(rubric: Rubric, subject: Subject) -> tuple[Verdict, ...]:
    """Judge a subject by the rubric's checks, one verdict per criterion, in the rubric's order.

    A criterion that is only judged is not applicable until a judge reads the conversation.
    A check that breaks, or a conversation with a fault, gives an inconclusive verdict: never a
    zero and never a pass.

    Raises:
        ValueError: The rubric scores another kind of subject.
    """
    kind = SubjectKind.of(subject)
    if kind is not rubric.subject:
        raise ValueError(f"rubric '{rubric.id}' scores a {rubric.subject}, not a {kind}")
    return tuple(_verdict(criterion, subject) for criterion in rubric.criteria)


def _verdict(criterion: Criterion, subject: Subject) -> Verdict:
    finding = _finding(criterion, subject)
    blamed = criterion.agents[0] if len(criterion.agents) == 1 else None
    return Verdict(
        criterion.id, finding.value, finding.status, finding.rationale, finding.evidence, blamed
    )


def _finding(criterion: Criterion, subject: Subject) -> Finding:
    if not isinstance(subject, CallRecord) and subject.trajectory.fault is not None:
        return Finding.inconclusive(f"no end: {subject.trajectory.fault.message}")
    if criterion.check is None:
        return Finding.not_applicable(NEEDS_A_JUDGE)
    finding = _checked(criterion.check, subject)
    if finding.value is None or criterion.allows(finding.value):
        return finding
    return Finding.inconclusive(
        f"check '{criterion.check.name}' gave {finding.value}, which the scale does not have"
    )


def _checked(spec: CheckSpec, subject: Subject) -> Finding:
    check = find_check(spec.name, SubjectKind.of(subject))
    try:
        return check.run(subject, spec.parameters)
    except Exception as error:  # one broken check must not cost a whole run its other verdicts
        return Finding.inconclusive(f"check '{spec.name}' broke: {type(error).__name__}: {error}")
