"""Evaluating: from a rubric and one subject to verdicts on every criterion."""

from __future__ import annotations

from .checks.registry import find_check
from .criterion import CheckProves, CheckSpec, Criterion
from .rubric import Rubric
from .subject import CallRecord, Subject, SubjectKind
from .verdict import Finding, Status, Verdict

NEEDS_A_JUDGE = "needs a judge"


def evaluate(rubric: Rubric, subject: Subject) -> tuple[Verdict, ...]:
    """Judge a subject by the rubric's checks, criterion by criterion in the rubric's order.

    A criterion has one verdict; one that is scored turn by turn has one per turn, unless nothing
    can be said about any turn. A criterion that is only judged is not applicable until a judge
    reads the conversation. A check that breaks, or a conversation with a fault, gives an
    inconclusive verdict: never a zero and never a pass.

    Raises:
        ValueError: The rubric scores another kind of subject.
    """
    kind = SubjectKind.of(subject)
    if kind is not rubric.subject:
        raise ValueError(f"rubric '{rubric.id}' scores a {rubric.subject}, not a {kind}")
    return tuple(
        _verdict(criterion, finding)
        for criterion in rubric.criteria
        for finding in _findings(criterion, subject)
    )


def _verdict(criterion: Criterion, finding: Finding) -> Verdict:
    return Verdict(
        criterion.id,
        finding.value,
        finding.status,
        finding.rationale,
        finding.evidence,
        finding.agent or (criterion.agents[0] if len(criterion.agents) == 1 else None),
        finding.turn,
    )


def _findings(criterion: Criterion, subject: Subject) -> tuple[Finding, ...]:
    if not isinstance(subject, CallRecord) and subject.trajectory.fault is not None:
        return (Finding.inconclusive(f"no end: {subject.trajectory.fault.message}"),)
    if criterion.check is None:
        return (Finding.not_applicable(NEEDS_A_JUDGE),)
    found = _checked(criterion.check, criterion, subject)
    return tuple(_admissible(criterion, criterion.check, finding) for finding in found)


def _admissible(criterion: Criterion, spec: CheckSpec, finding: Finding) -> Finding:
    """Return the finding, unless the check cannot say this."""
    if finding.value is not None and not criterion.allows(finding.value):
        return Finding.inconclusive(
            f"check '{spec.name}' gave {finding.value}, which the scale does not have"
        )
    failed = finding.value is not None and criterion.fails_at(finding.value)
    if criterion.check_proves is CheckProves.FAILURE and not failed:
        return Finding(Status.NOT_APPLICABLE, None, NEEDS_A_JUDGE, finding.evidence, finding.turn)
    return finding


def _checked(spec: CheckSpec, criterion: Criterion, subject: Subject) -> tuple[Finding, ...]:
    check = find_check(spec.name, SubjectKind.of(subject))
    try:
        if criterion.per_turn and not isinstance(subject, CallRecord):
            return check.run_turns(subject, spec.parameters)
        return (check.run(subject, spec.parameters),)
    except Exception as error:  # one broken check must not cost a whole run its other verdicts
        said = f"check '{spec.name}' broke: {type(error).__name__}: {error}"
        return (Finding.inconclusive(said),)
