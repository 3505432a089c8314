"""Case text: conversations that went wrong, written for a reflection model, in more or less detail.

What anybody said stands on one line behind a label of ours, so that it cannot pose as another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..case import Case, CaseCall, CaseTurn, Finding
from .data import one_line


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of the conversations is written.

    Attributes:
        conversations: How many at most.
        around: Turns before and after each fault.
        longest: Characters of a single value.
    """

    conversations: int
    around: int
    longest: int


# From all that helps to the least that makes sense: fewer conversations, then fewer turns around
# the fault, then shorter values, and at last a single conversation.
LADDER = (
    *(Detail(conversations, 2, 600) for conversations in range(8, 2, -1)),
    *(Detail(3, around, 600) for around in (1, 0)),
    *(Detail(3, 0, longest) for longest in (300, 150, 80)),
    *(Detail(conversations, 0, 80) for conversations in (2, 1)),
)


def cases_text(cases: Sequence[Case], detail: Detail) -> str:
    """Write the first conversations, and say how many are left out."""
    shown = cases[: detail.conversations]
    parts = [
        "\n".join([f"Conversation {number} of {len(cases)}", *_case_lines(case, detail)])
        for number, case in enumerate(shown, start=1)
    ]
    if missing := len(cases) - len(shown):
        parts.append(f"({missing} more conversations that went wrong are left out for length.)")
    return "\n\n".join(parts)


def by_blame(cases: Iterable[Case], agents: Collection[str]) -> list[Case]:
    """Return the conversations with the most points lost through these agents first."""
    return sorted(cases, key=lambda case: -_points_lost(case, agents))


def _points_lost(case: Case, agents: Collection[str]) -> float:
    return sum(
        finding.points * share
        for finding in case.findings
        for agent, share, _ in finding.blamed
        if agent in agents
    )


def _case_lines(case: Case, detail: Detail) -> Iterator[str]:
    yield f"Worth {case.score:.2f} of 1; it ended so: {one_line(case.stop, detail.longest)}"
    yield f"The customer's goal: {one_line(case.goal, detail.longest)}"
    shown = _turns_shown(case, detail.around)
    for number, turn in enumerate(case.turns):
        if number in shown:
            yield from _turn_lines(number, turn, detail.longest)
        elif number == 0 or number - 1 in shown:
            until = next((each for each in sorted(shown) if each > number), len(case.turns))
            yield f"({until - number} turns that are far from a fault are left out here.)"
    for finding in case.findings:
        yield from _finding_lines(finding, detail.longest)


def _turns_shown(case: Case, around: int) -> set[int]:
    """Return the turns near a fault; where it is not known when, the last turns."""
    last = len(case.turns) - 1
    faults = {last if each.turn is None else each.turn for each in case.findings} or {last}
    return {number for number in range(len(case.turns)) if _near(number, faults, around)}


def _near(number: int, faults: Iterable[int], around: int) -> bool:
    return any(abs(number - fault) <= around for fault in faults)


def _turn_lines(number: int, turn: CaseTurn, longest: int) -> Iterator[str]:
    yield f"Turn {number + 1}"
    yield f"The customer said: {one_line(turn.message, longest)}"
    for call in turn.calls:
        yield from _call_lines(call, longest)
    yield f"The assistant replied: {one_line(turn.reply, longest)}"


def _call_lines(call: CaseCall, longest: int) -> Iterator[str]:
    who = f"{call.agent}, tool {call.tool}," if call.tool else call.agent
    yield f"{who} received: {one_line(call.received, longest)}"
    yield f"{who} returned: {one_line(call.returned, longest)}"


def _finding_lines(finding: Finding, longest: int) -> Iterator[str]:
    where = "" if finding.turn is None else f" in turn {finding.turn + 1}"
    grave = ", critical" if finding.critical else ""
    rationale = one_line(finding.rationale, longest)
    yield f"Wrong{where}: {finding.criterion}, {finding.points:g} points{grave}. {rationale}"
    yield f"Good would have been: {one_line(finding.good, longest)}"
    for agent, share, reason in finding.blamed:
        yield f"To blame, {share:.0%}: {agent}. {one_line(reason, longest)}"
