"""Credit: which agent is to blame for a failed criterion, and why.

It is decided from three things: the agents that the rubric lets influence the criterion, the
agent and turn that judge or check names, and what the trajectory shows of who received what. The
trajectory comes first: an agent that was never called, or never received a fact, is not blamed
for the use of it. Then the judge's word counts, and only then the rubric's list.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from ..simulation.trajectory import Trajectory
from ..simulation.view import View
from .criterion import Criterion
from .problems import Problem, all_problems, named_problems
from .rubric import Rubric
from .subject import ConversationRecord
from .trace import Suspect, Tracer
from .verdict import Status, Verdict


@dataclass(frozen=True, slots=True)
class Blame:
    """One agent's share in one failed verdict.

    Attributes:
        verdict: The verdict.
        agent: Who is blamed.
        share: In (0, 1]; the shares of a verdict sum to 1.
        reason: What shows it, in a sentence.
        turn: Where, from 0; None when it cannot be told.
        received: The inputs of the call that shows it; empty when there is none.
        returned: The outputs of that call.
    """

    verdict: Verdict
    agent: str
    share: float
    reason: str
    turn: int | None = None
    received: Mapping[str, Any] = field(default_factory=dict)
    returned: Mapping[str, Any] = field(default_factory=dict)


def credit(
    rubric: Rubric, verdicts: Iterable[Verdict], record: ConversationRecord
) -> tuple[Blame, ...]:
    """Blame agents for every verdict below its best, in the order of the verdicts.

    Args:
        rubric: The rubric that the verdicts answer to.
        verdicts: Of one conversation.
        record: The conversation.

    Returns:
        Per verdict one or more blames, the largest share first; none for a verdict that no
        agent can be blamed for, because the record shows none at work.
    """
    agents = frozenset(agent for criterion in rubric.criteria for agent in criterion.agents)
    called = frozenset(call.agent for _, call in record.trajectory.agent_calls())
    tracer = Tracer(record, View.of(record.trajectory), agents | called)
    return tuple(
        blame
        for verdict in verdicts
        if verdict.status is Status.SCORED and verdict.value != 1.0
        for blame in _blames(rubric.criterion(verdict.criterion), verdict, tracer)
    )


def shares(rubric: Rubric, blames: Iterable[Blame]) -> dict[str, float]:
    """Return each agent's share of the points lost, the largest first; they sum to 1."""
    lost: defaultdict[str, float] = defaultdict(float)
    for blame in blames:
        lost[blame.agent] += blame.share * points_lost(rubric, blame.verdict)
    total = fsum(lost.values()) or 1.0
    return {agent: lost[agent] / total for agent in sorted(lost, key=lambda each: -lost[each])}


def points_lost(rubric: Rubric, verdict: Verdict) -> float:
    """Return the points that a verdict costs; of a criterion that only gates, a nominal one."""
    points = rubric.criterion(verdict.criterion).points or 1.0
    return points * (1.0 - (verdict.value or 0.0))


def _blames(criterion: Criterion, verdict: Verdict, tracer: Tracer) -> list[Blame]:
    found = named_problems(verdict, tracer.record)
    suspects, excused = _suspects(found, tracer)
    named = _named(verdict, tracer, excused)
    if named is not None:
        return [named]
    suspects = suspects or _earlier_causes(criterion, verdict, found, tracer)
    return _shared(verdict, suspects) or _by_list(criterion, verdict, tracer, excused)


def _earlier_causes(
    criterion: Criterion, verdict: Verdict, found: Sequence[Problem], tracer: Tracer
) -> list[Suspect]:
    """Return who let something else go wrong from which this may have followed.

    That is a guess, so only the agents that influence the criterion count.
    """
    turns = [turn for problem in found for turn in problem.turns]
    last = max(turns, default=verdict.turn)
    causes, _ = _suspects(all_problems(tracer.record), tracer)
    return [
        suspect
        for suspect in causes
        if (last is None or suspect.turn <= last)
        and (not criterion.agents or suspect.agent in criterion.agents)
    ]


def _suspects(found: Iterable[Problem], tracer: Tracer) -> tuple[list[Suspect], set[str]]:
    suspects: list[Suspect] = []
    excused: set[str] = set()
    for problem in found:
        for turn in problem.turns:
            suspect, without_fact = tracer.suspect(problem, turn)
            suspects += [suspect] if suspect else []
            excused |= without_fact
    return suspects, excused


def _named(verdict: Verdict, tracer: Tracer, excused: set[str]) -> Blame | None:
    """Blame whom judge or check names, unless the trajectory excuses that agent."""
    agent, trajectory = verdict.agent, tracer.record.trajectory
    if agent is None or agent in excused or agent not in _at_work(trajectory):
        return None
    own = [each for each in trajectory.agent_calls() if each[1].agent == agent]
    there = [each for each in own if each[0] == verdict.turn]
    for turn, call in reversed(there or own):
        return Blame(verdict, agent, 1.0, verdict.rationale, turn, call.inputs, call.outputs)
    return Blame(verdict, agent, 1.0, verdict.rationale, verdict.turn)


def _shared(verdict: Verdict, suspects: Sequence[Suspect]) -> list[Blame]:
    """Share the blame: the first turn that went wrong counts most, for it led to the others."""
    weights: defaultdict[str, float] = defaultdict(float)
    first: dict[str, Suspect] = {}
    for place, suspect in enumerate(sorted(suspects, key=lambda each: each.turn)):
        weights[suspect.agent] += 0.5**place
        first.setdefault(suspect.agent, suspect)
    total = fsum(weights.values())
    blames = [
        Blame(verdict, agent, weights[agent] / total, s.reason, s.turn, s.received, s.returned)
        for agent, s in first.items()
    ]
    return sorted(blames, key=lambda blame: -blame.share)


def _by_list(
    criterion: Criterion, verdict: Verdict, tracer: Tracer, excused: set[str]
) -> list[Blame]:
    """Blame all who may have caused it alike: of the rubric's list, those who were at work."""
    trajectory = tracer.record.trajectory
    at_work = _at_work(trajectory, verdict.turn) or _at_work(trajectory)
    listed = [agent for agent in at_work if agent in criterion.agents] or at_work
    alike = [agent for agent in listed if agent not in excused] or listed
    said = "No single call shows what went wrong; it was among those that may have caused it."
    if len(at_work) == 1:
        said = "No single call shows what went wrong; nobody else is on record at work."
    return [Blame(verdict, agent, 1 / len(alike), said, verdict.turn) for agent in alike]


def _at_work(trajectory: Trajectory, turn: int | None = None) -> list[str]:
    """Return the agents that were called, or for which a tool was, in one turn or in all.

    A log that does not say who did what inside an assistant still shows its tools at work.
    """
    return list(
        dict.fromkeys(
            call.agent
            for index, each in enumerate(trajectory.turns)
            if turn is None or index == turn
            for call in each.reply.calls
            if call.agent
        )
    )
