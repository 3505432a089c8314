"""A turn while it is worked on: it makes the calls and keeps them, and what came of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

import dspy
from pydantic import BaseModel

from ..assistant import AgentCall, ToolCall
from ..fingerprint import fingerprint
from ..prompts import PromptBundle
from .refusals import ToolError
from .signatures import AGENTS
from .world import World

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(slots=True)
class OpenTurn:
    """One message on its way to a reply.

    Attributes:
        lm: The model of all agents.
        prompts: What each agent is told.
        world: What the tools work on.
        seed: Seed of the session.
        number: Turns before this one.
        message: What the customer said.
        calls: Every agent and tool call so far, in order.
        events: What happened, in words for the responder.
    """

    lm: dspy.BaseLM
    prompts: PromptBundle
    world: World
    seed: int
    number: int
    message: str
    calls: list[AgentCall | ToolCall] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    async def ask(self, agent: str, /, **inputs: Any) -> dict[str, Any]:
        """Call an agent and return its output fields.

        Raises:
            FaultError: It gave no usable answer.
        """
        seed = int(fingerprint([self.seed, self.number, agent], 7), 16)
        outputs = await AGENTS[agent].call(self.prompts[agent], self.lm, inputs, seed)
        self.calls.append(AgentCall(agent, inputs, outputs))
        return outputs

    def use(
        self,
        agent: str,
        tool: Callable[Concatenate[World, _Arguments], _Result],
        /,
        *args: _Arguments.args,
        **arguments: _Arguments.kwargs,
    ) -> _Result | None:
        """Call a tool for an agent; a refusal becomes an event and gives None.

        Tool arguments are given by name, because they are recorded by name.
        """
        said = {name: _json(value) for name, value in arguments.items()}
        try:
            result = tool(self.world, *args, **arguments)
        except ToolError as error:
            self.calls.append(ToolCall(tool.__name__, agent, said, None, str(error)))
            self.events.append(str(error))
            return None
        self.calls.append(ToolCall(tool.__name__, agent, said, result))
        return result


def _json(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
