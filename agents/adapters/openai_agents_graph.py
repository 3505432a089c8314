"""Agents of the OpenAI Agents SDK that can be reached from one, and the texts they are told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents import Agent, FunctionTool, Handoff

from ..errors import UsageError

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


def bundle_name(name: str) -> str:
    """Return an agent's name as prompts are named: spaces and the like become underscores."""
    return _NOT_IN_NAMES.sub("_", name).strip("_-")


@dataclass(frozen=True, slots=True)
class Graph:
    """The agents that can be reached by handoffs and as tools.

    Attributes:
        start: Where a conversation starts.
        agents: All of them by name in the bundle, nearest first.
        unreachable: Names of agents behind handoffs that do not tell their agent.
    """

    start: Agent[Any]
    agents: Mapping[str, Agent[Any]] = field(default_factory=dict)
    unreachable: frozenset[str] = frozenset()

    @classmethod
    def of(cls, start: Agent[Any]) -> Graph:
        """Walk from an agent.

        Raises:
            UsageError: Two agents have the same name, or one has none that a prompt can have.
        """
        found: dict[str, Agent[Any]] = {}
        unreachable: set[str] = set()
        waiting: list[Agent[Any]] = [start]
        for agent in waiting:  # grows while it is walked
            name = bundle_name(agent.name)
            if not name[:1].isalpha():
                raise UsageError(
                    f"The agent '{agent.name}' cannot be tuned: prompts are named after agents, "
                    "and such a name starts with a letter."
                )
            if found.setdefault(name, agent) is not agent:
                raise UsageError(
                    f"Two agents are called '{name}'; prompts are named after agents, so each "
                    "needs a name of its own."
                )
            unreachable.update(_names_only(agent))
            known = list(found.values()) + waiting
            waiting += [each for each in _next_to(agent) if not any(each is one for one in known)]
        return cls(start, found, frozenset(unreachable))

    def texts(self) -> dict[str, str]:
        """Return what is written down as instructions; functions have no text of their own."""
        return {
            name: agent.instructions
            for name, agent in self.agents.items()
            if isinstance(agent.instructions, str) and agent.instructions.strip()
        }


def _next_to(agent: Agent[Any]) -> Iterator[Agent[Any]]:
    """Return those that it hands over to or uses as tools.

    The SDK offers no public way from a handoff or a tool to its agent.
    """
    for handoff in agent.handoffs:
        other = handoff
        if isinstance(handoff, Handoff):
            other = handoff._agent_ref and handoff._agent_ref()
        if isinstance(other, Agent):
            yield other
    for tool in agent.tools:
        if isinstance(tool, FunctionTool) and isinstance(tool._agent_instance, Agent):
            yield tool._agent_instance


def _names_only(agent: Agent[Any]) -> Iterator[str]:
    """Return the names in handoffs that were not made by `handoff()`."""
    for handoff in agent.handoffs:
        if isinstance(handoff, Handoff) and handoff._agent_ref is None:
            yield bundle_name(handoff.agent_name)
