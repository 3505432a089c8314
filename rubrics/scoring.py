"""Scoring: from verdicts to numbers, as pure functions.

Criterion to domain: points earned over points applicable. Domain to overall: domains weighted,
renormalised over those that apply. Not applicable and inconclusive verdicts enter neither side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType

from .rubric import CriticalPolicy, Rubric
from .verdict import Status, Verdict


@dataclass(frozen=True, slots=True)
class Score:
    """What a set of verdicts amounts to.

    Attributes:
        score: Weighted share of the points, in [0, 1]; None when nothing could be scored.
        passed: No critical failure. None when nothing was scored, or when none failed but one
            that is critical is inconclusive.
        objective: What an optimizer maximises, in [0, 1]: the score after a failed critical
            criterion has zeroed its domain, or everything if the rubric says so. None with `score`.
        domains: Share of the points by domain id, before any zeroing; only those that apply.
        critical_failures: Ids of the failed critical criteria, in the rubric's order.
        not_applicable: Number of criteria that do not apply.
        inconclusive: Number of criteria about which nothing reliable could be said.
    """

    score: float | None
    passed: bool | None
    objective: float | None
    domains: Mapping[str, float]
    critical_failures: tuple[str, ...]
    not_applicable: int
    inconclusive: int


def score(rubric: Rubric, verdicts: Iterable[Verdict]) -> Score:
    """Score one subject; the order of the verdicts does not matter.

    Args:
        rubric: The rubric the verdicts answer to.
        verdicts: Exactly one per criterion.

    Raises:
        ValueError: A criterion has no verdict or two, or a verdict no criterion.
    """
    by_criterion = _by_criterion(rubric, verdicts)
    values = {name: v.value for name, v in by_criterion.items() if v.value is not None}
    domains = _domain_scores(rubric, values)
    failures = tuple(
        criterion.id
        for criterion in rubric.criteria
        if criterion.critical
        and criterion.id in values
        and criterion.fails_at(values[criterion.id])
    )
    statuses = [verdict.status for verdict in by_criterion.values()]
    return Score(
        score=_weighted(rubric, domains),
        passed=_passed(rubric, by_criterion, failures),
        objective=_weighted(rubric, _after_failures(rubric, domains, failures)),
        domains=MappingProxyType(domains),
        critical_failures=failures,
        not_applicable=statuses.count(Status.NOT_APPLICABLE),
        inconclusive=statuses.count(Status.INCONCLUSIVE),
    )


def _by_criterion(rubric: Rubric, verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    given = list(verdicts)
    by_criterion = {verdict.criterion: verdict for verdict in given}
    wanted = {criterion.id for criterion in rubric.criteria}
    if len(given) != len(by_criterion) or set(by_criterion) != wanted:
        found = sorted(verdict.criterion for verdict in given)
        raise ValueError(f"one verdict per criterion is needed: {sorted(wanted)}; found {found}")
    return by_criterion


def _domain_scores(rubric: Rubric, values: Mapping[str, float]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for domain in rubric.domains:
        scored = [c for c in rubric.in_domain(domain.id) if c.id in values and c.points]
        if scored:
            earned = fsum(criterion.points * values[criterion.id] for criterion in scored)
            scores[domain.id] = earned / fsum(criterion.points for criterion in scored)
    return scores


def _weighted(rubric: Rubric, domains: Mapping[str, float]) -> float | None:
    weights = {domain.id: domain.weight for domain in rubric.domains if domain.id in domains}
    if not weights:
        return None
    return fsum(weights[name] * domains[name] for name in weights) / fsum(weights.values())


def _after_failures(
    rubric: Rubric, domains: Mapping[str, float], failures: Collection[str]
) -> dict[str, float]:
    if failures and rubric.critical_policy is CriticalPolicy.CONVERSATION:
        return dict.fromkeys(domains, 0.0)
    failed = {rubric.criterion(name).domain for name in failures}
    return {name: 0.0 if name in failed else value for name, value in domains.items()}


def _passed(
    rubric: Rubric, verdicts: Mapping[str, Verdict], failures: Collection[str]
) -> bool | None:
    if failures:
        return False
    critical = [
        verdicts[criterion.id].status for criterion in rubric.criteria if criterion.critical
    ]
    nothing_scored = all(verdict.status is not Status.SCORED for verdict in verdicts.values())
    return None if nothing_scored or Status.INCONCLUSIVE in critical else True
