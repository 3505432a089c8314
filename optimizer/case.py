"""Cases: one conversation that went wrong, as a proposer reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..agents.assistant import AgentCall, ToolCall
from ..agents.compact_adapter import render_json, render_value
from ..rubrics.credit import Blame, points_lost
from ..rubrics.rubric import Rubric
from ..rubrics.subject import ConversationRecord
from ..simulation.trajectory import Turn

_LONGEST = 600


@dataclass(frozen=True, slots=True)
class CaseCall:
    """What an agent or a tool received and returned, as text.

    Attributes:
        agent: The agent that was called, or on whose behalf the tool was.
        tool: Name of the tool; empty for a call of the agent itself.
        received: Inputs or arguments.
        returned: Outputs, result or error.
    """

    agent: str
    tool: str
    received: str
    returned: str


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """One exchange: what the customer said, what was done, what was replied."""

    message: str
    calls: tuple[CaseCall, ...]
    reply: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One failed criterion and who is blamed for it.

    Attributes:
        criterion: Its name.
        critical: Whether it gates.
        points: Points of the rubric that were lost.
        rationale: What was expected and what was found.
        good: What would have been good.
        turn: Where, from 0; None when it cannot be told.
        blamed: (agent, share in (0, 1], what shows it), the largest share first.
        influences: The agents that the rubric lets influence the criterion.
        rules: By agent, the rules that the rubric has for its prompt.
    """

    criterion: str
    critical: bool
    points: float
    rationale: str
    good: str
    turn: int | None
    blamed: tuple[tuple[str, float, str], ...]
    influences: tuple[str, ...] = ()
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation that lost points.

    Attributes:
        scenario: The scenario's id.
        goal: What the customer wanted.
        stop: Why the conversation ended.
        score: What it was worth, 0 to 1.
        turns: All exchanges, oldest first; long texts are cut, and say so.
        findings: What was wrong, the gravest first.
    """

    scenario: str
    goal: str
    stop: str
    score: float
    turns: tuple[CaseTurn, ...]
    findings: tuple[Finding, ...]

    def said(self) -> Iterator[str]:
        """Yield what was said in it, which no prompt may copy."""
        for turn in self.turns:
            yield turn.message
            yield turn.reply

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """Read back what `dataclasses.asdict` wrote."""
        turns = tuple(map(_turn_from_json, data["turns"]))
        findings = tuple(map(_finding_from_json, data["findings"]))
        return cls(**{**data, "turns": turns, "findings": findings})


def case_of(
    record: ConversationRecord, rubric: Rubric, blames: Sequence[Blame], score: float
) -> Case:
    """Return a judged conversation as a case.

    Args:
        record: The conversation.
        rubric: By what it was judged.
        blames: Who is to blame for what; see `credit`.
        score: What it was worth.
    """
    trajectory = record.trajectory
    return Case(
        scenario=record.scenario.id,
        goal=record.scenario.goal,
        stop=str(trajectory.stop) if trajectory.fault is None else trajectory.fault.message,
        score=score,
        turns=tuple(_turn(turn) for turn in trajectory.turns),
        findings=tuple(_findings(rubric, blames)),
    )


def _findings(rubric: Rubric, blames: Iterable[Blame]) -> list[Finding]:
    """Return what was wrong, the critical first, then by points lost."""
    by_verdict: dict[tuple[str, int | None], list[Blame]] = {}
    for blame in blames:
        by_verdict.setdefault((blame.verdict.criterion, blame.verdict.turn), []).append(blame)
    found = [_finding_of(rubric, shared) for shared in by_verdict.values()]
    return sorted(found, key=lambda each: (not each.critical, -each.points))


def _finding_of(rubric: Rubric, shared: Sequence[Blame]) -> Finding:
    verdict = shared[0].verdict
    criterion = rubric.criterion(verdict.criterion)
    return Finding(
        criterion=criterion.name,
        critical=criterion.critical,
        points=points_lost(rubric, verdict),
        rationale=verdict.rationale,
        good=f"{criterion.best} {criterion.feedback or ''}".strip(),
        turn=shared[0].turn,
        blamed=tuple((each.agent, each.share, each.reason) for each in shared),
        influences=tuple(criterion.agents),
        rules=dict(criterion.rules),
    )


def _turn(turn: Turn) -> CaseTurn:
    calls = tuple(map(_call, turn.reply.calls))
    return CaseTurn(_cut(turn.message), calls, _cut(turn.reply.text))


def _call(call: AgentCall | ToolCall) -> CaseCall:
    if isinstance(call, AgentCall):
        return CaseCall(call.agent, "", _fields(call.inputs), _fields(call.outputs))
    returned = f"refused: {call.error}" if call.error else render_json(call.result)
    return CaseCall(call.agent, call.tool, _fields(call.arguments), _cut(returned))


def _fields(values: Mapping[str, Any]) -> str:
    return _cut("; ".join(f"{name}: {render_value(value)}" for name, value in values.items()))


def _cut(text: str) -> str:
    """Cut a long text and say how much is missing."""
    missing = len(text) - _LONGEST
    return text if missing <= 0 else f"{text[:_LONGEST]} … ({missing} more characters)"


def _turn_from_json(data: Mapping[str, Any]) -> CaseTurn:
    calls = tuple(CaseCall(**call) for call in data["calls"])
    return CaseTurn(data["message"], calls, data["reply"])


def _finding_from_json(data: Mapping[str, Any]) -> Finding:
    blamed = tuple((agent, share, reason) for agent, share, reason in data["blamed"])
    rules = {agent: tuple(said) for agent, said in data["rules"].items()}
    influences = tuple(data["influences"])
    return Finding(**{**data, "blamed": blamed, "influences": influences, "rules": rules})
