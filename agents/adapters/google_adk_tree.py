"""Agents of a Google ADK application: found in their tree, and copied with other instructions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.tools.agent_tool import AgentTool

from ..errors import UsageError
from ..prompts import PromptBundle

Instruction = str | Callable[[ReadonlyContext], str]

_BRACED = re.compile(r"(?<![${\\]){+([^{}]*)}+")
_STATE = re.compile(r"(?:(?:app|user|temp):)?(\w+)")
_ARTIFACT = "artifact."


def agents_in(root: BaseAgent) -> dict[str, LlmAgent]:
    """Return all agents with a model by name: the root, its sub-agents and agents used as tools.

    Raises:
        UsageError: Two have one name.
    """
    found: dict[str, LlmAgent] = {}
    for agent in _walk(root):
        if isinstance(agent, LlmAgent) and found.setdefault(agent.name, agent) is not agent:
            raise UsageError(
                f"assistant.path: two agents have the name '{agent.name}', and could not be told "
                "apart; give each a name of its own."
            )
    return found


def _walk(agent: BaseAgent) -> Iterator[BaseAgent]:
    yield agent
    for sub in agent.sub_agents:
        yield from _walk(sub)
    if isinstance(agent, LlmAgent):
        for tool in agent.tools:
            if isinstance(tool, AgentTool) and tool.agent not in agent.sub_agents:
                yield from _walk(tool.agent)


def state_names(text: str) -> frozenset[str]:
    """Return what ADK would fill in from the session's state: `{name}`, in any number of braces.

    JSON, code and other text in braces is none of it.
    """
    inside = (match.strip().removesuffix("?") for match in _BRACED.findall(text))
    return frozenset(name for name in inside if _is_name(name))


def _is_name(name: str) -> bool:
    match = _STATE.fullmatch(name)
    return name.startswith(_ARTIFACT) or (match is not None and match[1].isidentifier())


def templated(agent: LlmAgent | None) -> frozenset[str]:
    """Return the names that ADK fills in in an agent's own instruction."""
    if agent is None or not isinstance(agent.instruction, str):
        return frozenset()
    return state_names(agent.instruction)


def with_prompts(root: BaseAgent, agents: Mapping[str, LlmAgent], prompts: PromptBundle) -> Any:
    """Return a copy of the tree in which the agents are instructed by a bundle."""
    instructions = {
        name: prompt.text if templated(agents[name]) else _as_it_is(prompt.text)
        for name, prompt in prompts.items()
    }
    return _Copy(instructions).of(root)


def _as_it_is(text: str) -> Instruction:
    """Return an instruction that ADK sends byte for byte: functions' results are not templates."""

    def instruction(context: ReadonlyContext) -> str:
        return text

    return instruction


@dataclass(frozen=True, slots=True)
class _Copy:
    """A tree that is being copied; agents that stand in two places stay one agent."""

    instructions: Mapping[str, Instruction]
    made: dict[int, BaseAgent] = field(default_factory=dict)

    def of(self, agent: BaseAgent) -> BaseAgent:
        if id(agent) not in self.made:
            self.made[id(agent)] = agent.clone(update=self._changes(agent))
        return self.made[id(agent)]

    def _changes(self, agent: BaseAgent) -> dict[str, Any]:
        changes: dict[str, Any] = {"sub_agents": [self.of(sub) for sub in agent.sub_agents]}
        if isinstance(agent, LlmAgent):
            changes["tools"] = [self._tool(tool) for tool in agent.tools]
            if agent.name in self.instructions:
                changes["instruction"] = self.instructions[agent.name]
        return changes

    def _tool(self, tool: Any) -> Any:
        if not isinstance(tool, AgentTool):
            return tool
        twin = copy(tool)
        twin.agent = self.of(tool.agent)
        return twin
