"""The contract between cotune and an assistant: sessions that reply and say what they did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .prompts import PromptBundle


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One call of one agent: what it received and what it returned.

    Attributes:
        agent: The agent's name in the prompt bundle.
        inputs: The fields it was given, JSON values.
        outputs: The fields it returned, JSON values.
    """

    agent: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of one tool.

    Attributes:
        tool: The tool's name.
        agent: The agent on whose behalf it was called.
        arguments: JSON values.
        result: JSON value.
        error: What the tool refused, empty when it worked.
    """

    tool: str
    agent: str
    arguments: Mapping[str, Any]
    result: Any
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the assistant said, and everything it did to be able to say it, in order."""

    text: str
    calls: tuple[AgentCall | ToolCall, ...] = ()


class Session(Protocol):
    """One conversation with the assistant; nothing is shared between two."""

    async def reply(self, message: str) -> Reply:
        """Answer the customer's message.

        Raises:
            FaultError: No answer could be produced; the fault says why.
        """
        ...

    def state(self) -> Mapping[str, Any]:
        """Return a JSON snapshot of the world: cart, chosen store and the like."""
        ...


class Assistant(Protocol):
    """The system under test."""

    @property
    def prompts(self) -> PromptBundle:
        """The seed prompts, by agent name."""
        ...

    def start(self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int) -> Session:
        """Open a conversation; any number may run side by side.

        Args:
            prompts: What each agent is told.
            scenario_state: Where the world starts, in the assistant's own terms.
            seed: From which the seed of every sampling is derived.

        Raises:
            UsageError: An agent has no prompt, or the state is not as it should be.
        """
        ...
