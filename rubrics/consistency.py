"""Consistency: what can be wrong with domains and criteria that are well-formed one by one.

The functions take (index, part) pairs, so that what is readable of a broken file can be looked
at too; see `lint.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from ..agents.errors import UsageError
from ..agents.problem import Problem
from .checks.registry import find_check
from .criterion import CheckProves, Criterion, Domain
from .subject import SubjectKind

Domains = Sequence[tuple[int, Domain]]
Criteria = Sequence[tuple[int, Criterion]]
_Complaint = tuple[str, str]
"""A field of a criterion, and what is wrong with it."""


def weight_problems(domains: Sequence[Domain]) -> Iterator[Problem]:
    """Say when the weights do not add up."""
    total = math.fsum(domain.weight for domain in domains)
    if not math.isclose(total, 100.0, abs_tol=1e-6):
        yield ("domains",), f"the domains' weights sum to {total:g}; they must sum to 100"


def empty_domain_problems(domains: Domains, criteria: Sequence[Criterion]) -> Iterator[Problem]:
    """Say which domains can never have a score."""
    for index, domain in domains:
        if not any(each.points and each.domain == domain.id for each in criteria):
            yield ("domains", index), f"domain '{domain.id}' has no criterion with points"


def repeated_id_problems(section: str, ids: Sequence[tuple[int, str]]) -> Iterator[Problem]:
    """Say which ids are given more than once, at the last place."""
    last = {name: index for index, name in ids}
    for name, count in Counter(name for _, name in ids).items():
        if count > 1:
            at = (section, last[name], "id")
            yield at, f"the id '{name}' is used {count} times; ids are unique"


def criterion_problems(
    criteria: Criteria, known: Sequence[str], kind: SubjectKind | None
) -> Iterator[Problem]:
    """Say what is wrong with each criterion.

    Args:
        criteria: The criteria with their indices.
        known: Ids of the domains.
        kind: What the rubric scores; None when that is not known, and checks are not looked up.
    """
    for index, criterion in criteria:
        for field, message in _complaints(criterion, known, kind):
            yield ("criteria", index, field), message


def agent_problems(criteria: Sequence[Criterion], agents: Sequence[str]) -> Iterator[Problem]:
    """Say which criteria name an agent that the assistant does not have."""
    for index, criterion in enumerate(criteria):
        for number, agent in unknown_agents(criterion, agents):
            at = ("criteria", index, "agents", number)
            yield at, f"found the agent '{agent}'; the assistant has: {', '.join(agents)}"


def unknown_agents(criterion: Criterion, agents: Collection[str]) -> list[tuple[int, str]]:
    """Return the agents that a criterion names and the assistant does not have, with their places.

    Rules are for agents of the criterion only, so there is nothing more to look at.
    """
    return [(at, agent) for at, agent in enumerate(criterion.agents) if agent not in agents]


def _complaints(
    criterion: Criterion, known: Sequence[str], kind: SubjectKind | None
) -> Iterator[_Complaint]:
    if known and criterion.domain not in known:
        yield "domain", f"found the domain '{criterion.domain}'; known: {', '.join(known)}"
    if not (criterion.points or criterion.critical):
        yield "points", "found 0 points; only a critical criterion may have none"
    if criterion.applies.casefold().rstrip(".") == "never":
        yield "applies", "found a criterion that never applies; say when it does, or remove it"
    for agent in criterion.rules:
        if agent not in criterion.agents:
            yield "rules", f"found rules for '{agent}', who is not among the criterion's 'agents'"
    yield from _text_complaints(criterion)
    yield from _tier_complaints(criterion)
    yield from _turn_complaints(criterion, kind)
    yield from _decision_complaints(criterion, kind)


def _text_complaints(criterion: Criterion) -> Iterator[_Complaint]:
    texts = {"passes": criterion.passes, "fails": criterion.fails}
    for field, text in texts.items():
        if isinstance(criterion.scale, str):
            if not text.strip():
                yield field, f"a pass/fail criterion needs the text '{field}'"
        elif text:
            yield field, f"'{field}' is for pass/fail only; the tiers have their own texts"


def _tier_complaints(criterion: Criterion) -> Iterator[_Complaint]:
    values = list(criterion.values)
    if len(values) < 2:
        yield "scale", f"found {len(values)} tiers; a scale has at least two"
    if any(better <= worse for better, worse in pairwise(values)):
        yield "scale", f"found tiers with values {values}; each must be lower than the one before"
    elif criterion.pass_at is not None and criterion.pass_at not in values[:-1]:
        allowed = ", ".join(f"{value:g}" for value in values[:-1])
        yield "pass_at", f"found {criterion.pass_at:g}; with these tiers it can be {allowed}"


def _turn_complaints(criterion: Criterion, kind: SubjectKind | None) -> Iterator[_Complaint]:
    if not criterion.per_turn:
        if criterion.aggregate is not None:
            yield "aggregate", "'aggregate' is for the scope 'turn' only"
        return
    if criterion.aggregate is None:
        yield "scope", "a criterion with a verdict per turn needs 'aggregate': minimum or mean"
    if kind is SubjectKind.CALL:
        yield "scope", "a call has no turns; leave the scope out"


def _decision_complaints(criterion: Criterion, kind: SubjectKind | None) -> Iterator[_Complaint]:
    if criterion.check_proves is CheckProves.FAILURE and not (criterion.check and criterion.judged):
        yield "check_proves", "'failure' needs a check, and 'judged: true' for what it leaves open"
    if criterion.check is None:
        if not criterion.judged:
            yield "check", "nothing decides this criterion; give it a check or set 'judged: true'"
        return
    if kind is None:
        return
    try:
        check = find_check(criterion.check.name, kind)
        check.validate(criterion.check.parameters)
    except UsageError as error:
        yield "check", str(error)
        return
    if criterion.per_turn and not check.per_turn:
        yield "check", f"'{check.name}' looks at whole conversations, and the scope is 'turn'"
