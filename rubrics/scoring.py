"""Scoring: from verdicts to numbers, as pure functions.

Turns to criterion: minimum or mean (`aggregation.py`). Criterion to domain: points earned over
points applicable. Domain to overall: domains weighted, renormalised over those that apply. Not
applicable and inconclusive verdicts enter neither side; when inconclusive ones leave too much of
the score open, there is no score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from types import MappingProxyType

from .aggregation import CriterionScore, aggregate
from .rubric import CriticalPolicy, Rubric
from .verdict import Status, Verdict

_ROUNDING = 1e-9


class Gate(StrEnum):
    """What the critical criteria say."""

    HELD = "held"
    FAILED = "failed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Score:
    """What a set of verdicts amounts to.

    Attributes:
        score: Weighted share of the points, in [0, 1]; None when nothing could be scored, and for
            a judge fault.
        passed: No critical failure. None when nothing was scored, for a judge fault, and when the
            gate is undecided.
        objective: What an optimizer maximises, in [0, 1]: the score after a failed critical
            criterion has zeroed its domain, or everything if the rubric says so. None with `score`.
        domains: Share of the points by domain id, before any zeroing; only those that apply.
        criteria: What the verdicts about each criterion amount to, by its id.
        gate: Failed by any critical failure; undecided when none failed but a verdict about a
            critical criterion is inconclusive.
        critical_failures: Ids of the failed critical criteria, in the rubric's order.
        not_applicable: Number of criteria that do not apply.
        inconclusive: Number of criteria about which nothing reliable could be said.
        undecided: Share of the applicable points, in [0, 1], domains weighted, whose verdicts are
            inconclusive.
        judge_fault: Whether that is more than the rubric allows: the judge failed, and nothing is
            known of the subject.
    """

    score: float | None
    passed: bool | None
    objective: float | None
    domains: Mapping[str, float]
    criteria: Mapping[str, CriterionScore]
    gate: Gate
    critical_failures: tuple[str, ...]
    not_applicable: int
    inconclusive: int
    undecided: float
    judge_fault: bool


def score(rubric: Rubric, verdicts: Iterable[Verdict]) -> Score:
    """Score one subject; the order of the verdicts does not matter.

    Args:
        rubric: The rubric the verdicts answer to.
        verdicts: Exactly one per criterion, or one per turn; see `aggregate`.

    Raises:
        ValueError: A criterion has too few or too many verdicts, or a verdict no criterion.
    """
    criteria = _aggregated(rubric, verdicts)
    domains = _domain_scores(rubric, criteria)
    failures = _critical_failures(rubric, criteria)
    gate = _gate(rubric, criteria, failures)
    undecided = _undecided(rubric, criteria)
    judge_fault = undecided > rubric.max_undecided + _ROUNDING
    statuses = [criterion.status for criterion in criteria.values()]
    known = Status.SCORED in statuses and not judge_fault
    zeroed = _after_failures(rubric, domains, failures)
    return Score(
        score=_weighted(rubric, domains) if known else None,
        passed={Gate.HELD: True, Gate.FAILED: False, Gate.UNDECIDED: None}[gate] if known else None,
        objective=_weighted(rubric, zeroed) if known else None,
        domains=MappingProxyType(domains),
        criteria=MappingProxyType(criteria),
        gate=gate,
        critical_failures=failures,
        not_applicable=statuses.count(Status.NOT_APPLICABLE),
        inconclusive=statuses.count(Status.INCONCLUSIVE),
        undecided=undecided,
        judge_fault=judge_fault,
    )


def _aggregated(rubric: Rubric, verdicts: Iterable[Verdict]) -> dict[str, CriterionScore]:
    by_criterion: dict[str, list[Verdict]] = {criterion.id: [] for criterion in rubric.criteria}
    for verdict in verdicts:
        if verdict.criterion not in by_criterion:
            known = ", ".join(by_criterion)
            raise ValueError(
                f"one verdict per criterion is needed; found one for '{verdict.criterion}', and "
                f"the criteria are: {known}"
            )
        by_criterion[verdict.criterion].append(verdict)
    return {
        criterion.id: aggregate(criterion, by_criterion[criterion.id])
        for criterion in rubric.criteria
    }


def _domain_scores(rubric: Rubric, criteria: Mapping[str, CriterionScore]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for domain in rubric.domains:
        scored = [
            (criterion.points, value)
            for criterion in rubric.in_domain(domain.id)
            if (value := criteria[criterion.id].value) is not None and criterion.points
        ]
        if scored:
            earned = fsum(points * value for points, value in scored)
            scores[domain.id] = min(earned / fsum(points for points, _ in scored), 1.0)
    return scores


def _weighted(rubric: Rubric, domains: Mapping[str, float]) -> float | None:
    weights = {domain.id: domain.weight for domain in rubric.domains if domain.id in domains}
    if not weights:
        return None
    return fsum(weights[name] * domains[name] for name in weights) / fsum(weights.values())


def _critical_failures(rubric: Rubric, criteria: Mapping[str, CriterionScore]) -> tuple[str, ...]:
    return tuple(
        criterion.id
        for criterion in rubric.criteria
        if criterion.critical
        and (value := criteria[criterion.id].value) is not None
        and criterion.fails_at(value)
    )


def _gate(
    rubric: Rubric, criteria: Mapping[str, CriterionScore], failures: Collection[str]
) -> Gate:
    if failures:
        return Gate.FAILED
    open_ = any(each.critical and criteria[each.id].inconclusive for each in rubric.criteria)
    return Gate.UNDECIDED if open_ else Gate.HELD


def _after_failures(
    rubric: Rubric, domains: Mapping[str, float], failures: Collection[str]
) -> dict[str, float]:
    if failures and rubric.critical_policy is CriticalPolicy.CONVERSATION:
        return dict.fromkeys(domains, 0.0)
    failed = {rubric.criterion(name).domain for name in failures}
    return {name: 0.0 if name in failed else value for name, value in domains.items()}


def _undecided(rubric: Rubric, criteria: Mapping[str, CriterionScore]) -> float:
    """Return the share of the applicable points that is open, the domains weighted."""
    weights: list[float] = []
    open_: list[float] = []
    for domain in rubric.domains:
        applicable = [
            criterion
            for criterion in rubric.in_domain(domain.id)
            if criteria[criterion.id].status is not Status.NOT_APPLICABLE and criterion.points
        ]
        if applicable:
            points = fsum(criterion.points for criterion in applicable)
            lost = fsum(each.points * criteria[each.id].open_share for each in applicable)
            weights.append(domain.weight)
            open_.append(domain.weight * lost / points)
    return fsum(open_) / fsum(weights) if weights else 0.0
