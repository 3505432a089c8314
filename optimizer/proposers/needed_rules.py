"""Needed rules: what the rubric wants to stand in the prompts of the agents that are to blame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..case import Case, Finding
from .hand_offs import readers


def needed_rules(cases: Iterable[Case], agents: Collection[str]) -> dict[str, dict[str, float]]:
    """Return, by agent, the rules that would have helped and the points lost for want of each.

    An agent needs the rules of the criteria that failed by its fault, and those of a reader of
    what it wrote are needed with them: a fact that is passed on helps when it is used, too.

    Args:
        cases: Conversations that lost points.
        agents: Whose faults count; others have rules as readers of what these wrote.

    Returns:
        The agents most to blame first; the rules of each in the order of points.
    """
    points: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for case in cases:
        for finding in case.findings:
            for agent, rule, lost in _needed(case, finding, agents):
                points[agent][rule] += lost
    found = {agent: _heaviest_first(rules) for agent, rules in points.items()}
    return dict(sorted(found.items(), key=lambda pair: -max(pair[1].values())))


def _needed(
    case: Case, finding: Finding, agents: Collection[str]
) -> Iterator[tuple[str, str, float]]:
    for agent, share, _ in finding.blamed:
        if agent not in agents:
            continue
        lost = share * finding.points
        for rule in _rules(finding, agent):
            yield agent, rule, lost
        for reader in readers(case, agent, finding.turn):
            if reader in finding.influences:
                for rule in finding.rules.get(reader, ()):
                    yield reader, rule, lost


def _rules(finding: Finding, agent: str) -> tuple[str, ...]:
    """Return the rubric's rules for an agent; where it has none for anybody, what is good."""
    if finding.rules:
        return finding.rules.get(agent, ())
    return (" ".join(finding.good.split()),) if finding.good.strip() else ()


def _heaviest_first(rules: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(rules.items(), key=lambda pair: -pair[1]))
