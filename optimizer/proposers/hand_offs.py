"""Hand-offs: who is called after whom in conversations, and who reads what another wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..case import Case, CaseCall, CaseTurn

_SHORTEST, _COMPARED = 12, 60  # characters of a text that tell that it was handed on


@dataclass(frozen=True, slots=True)
class HandOff:
    """One agent is called right after another.

    Attributes:
        before: The agent called first.
        after: The agent called next.
        reads: Whether it received words that the first wrote.
    """

    before: str
    after: str
    reads: bool


def hand_offs(cases: Iterable[Case]) -> Counter[HandOff]:
    """Count the hand-offs in all turns of some conversations."""
    return Counter(
        HandOff(before.agent, after.agent, _reads(after, before))
        for case in cases
        for turn in case.turns
        for before, after in pairwise(_agents_called(turn))
    )


def readers(case: Case, agent: str, turn: int | None) -> list[str]:
    """Return the agents that received, in the same turn, words that an agent wrote.

    Args:
        case: The conversation.
        agent: Who wrote.
        turn: From 0; None looks at all turns.
    """
    turns = case.turns if turn is None else case.turns[turn : turn + 1]
    found = [
        later.agent
        for each in turns
        for later, earlier in _later_and_earlier(_agents_called(each))
        if earlier.agent == agent != later.agent and _reads(later, earlier)
    ]
    return list(dict.fromkeys(found))


def _agents_called(turn: CaseTurn) -> list[CaseCall]:
    return [call for call in turn.calls if not call.tool]


def _later_and_earlier(calls: Sequence[CaseCall]) -> list[tuple[CaseCall, CaseCall]]:
    return [(later, earlier) for at, later in enumerate(calls) for earlier in calls[:at]]


def _reads(later: CaseCall, earlier: CaseCall) -> bool:
    """Whether a call received the text that another returned; a label is no text."""
    _, _, written = earlier.returned.partition(": ")
    start = " ".join(written.split())[:_COMPARED]
    return len(start) >= _SHORTEST and start in " ".join(later.received.split())
