"""Trajectories: the record of one conversation, from which it is judged and learned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..agents.assistant import AgentCall, Reply, ToolCall
from ..agents.errors import Fault


class StopReason(StrEnum):
    """Why a conversation ended."""

    OPEN = "open"
    SATISFIED = "satisfied"
    GAVE_UP = "gave_up"
    REFUSED = "refused"
    OUT_OF_SCOPE = "out_of_scope"
    TURN_LIMIT = "turn_limit"
    SCRIPT_ENDED = "script_ended"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange.

    Attributes:
        message: What the customer said.
        reply: What the assistant said and did.
        state: The world's state after the turn, JSON.
        notes: Why the customer said it, JSON; never shown to the assistant or a judge.
    """

    message: str
    reply: Reply
    state: Mapping[str, Any]
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One conversation, whole.

    Attributes:
        scenario: The scenario's id.
        turns: The exchanges, oldest first.
        initial_state: The world's state before the first turn, JSON.
        stop: Why it ended; `OPEN` while it goes on.
        fault: Set when the conversation could not be finished; it then has no score.
        metadata: Anything the importer or simulator wants to keep, JSON.
    """

    scenario: str
    turns: tuple[Turn, ...]
    initial_state: Mapping[str, Any]
    stop: StopReason
    fault: Fault | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def final_state(self) -> Mapping[str, Any]:
        """The world's state at the end."""
        return self.turns[-1].state if self.turns else self.initial_state

    def tool_calls(self) -> Iterator[tuple[int, ToolCall]]:
        """Yield (turn index from 0, tool call), oldest first."""
        for index, turn in enumerate(self.turns):
            for call in turn.reply.calls:
                if isinstance(call, ToolCall):
                    yield index, call

    def agent_calls(self) -> Iterator[tuple[int, AgentCall]]:
        """Yield (turn index from 0, agent call), oldest first."""
        for index, turn in enumerate(self.turns):
            for call in turn.reply.calls:
                if isinstance(call, AgentCall):
                    yield index, call
