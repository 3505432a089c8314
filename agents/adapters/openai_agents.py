"""An assistant written with the OpenAI Agents SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelBehaviorError,
    ModelRefusalError,
    OutputGuardrailTripwireTriggered,
    Runner,
    set_trace_processors,
)
from agents.items import TResponseInputItem

from ..errors import Fault, FaultError, FaultOrigin, UsageError
from ..prompts import Prompt, PromptBundle
from .adapter import Means
from .imported import code_identity, imported, imported_at
from .openai_agents_graph import Graph
from .openai_agents_watch import Watch, watching
from .said import said
from .session import RecordedSession
from .settings import OpenAIAgentsSettings
from .world import MakeWorld, made, state_of

_FAILURES: Mapping[type[Exception], str] = {
    MaxTurnsExceeded: "max_turns",
    ModelBehaviorError: "model_behavior",
    ModelRefusalError: "refusal",
    InputGuardrailTripwireTriggered: "guardrail",
    OutputGuardrailTripwireTriggered: "guardrail",
}
"""What the SDK raises when the assistant itself fails, and the kind of fault that it is."""


@dataclass(frozen=True)
class OpenAIAgentsAdapter:
    """The agents that can be reached from one; see `Adapter`."""

    settings: OpenAIAgentsSettings

    @property
    def name(self) -> str:
        """The starting agent's module."""
        return self.settings.name

    @cached_property
    def graph(self) -> Graph:
        """All agents.

        Raises:
            UsageError: What `path` names is no agent, or agents cannot be told apart.
        """
        found = imported(self.settings)
        if callable(found) and not isinstance(found, Agent):
            found = found()
        if not isinstance(found, Agent):
            raise UsageError(
                f"assistant.path: '{self.settings.path}' is {type(found).__name__}; it must be an "
                "Agent of the OpenAI Agents SDK, or a function without arguments that returns one."
            )
        return Graph.of(found)

    @cached_property
    def seeds(self) -> Mapping[str, str]:
        """By agent, the text in its instructions that is tuned.

        Raises:
            UsageError: `texts` names no agent, or no text.
        """
        seeds = self.graph.texts()
        for name, place in self.settings.texts.items():
            text = imported_at(self.settings, place, f"texts.{name}")
            if name not in self.graph.agents or not isinstance(text, str) or not text.strip():
                raise UsageError(
                    f"assistant.texts.{name}: '{place}' must be a text in the instructions of an "
                    f"agent of the assistant. It has: {', '.join(self.graph.agents)}."
                )
            seeds[name] = text
        return seeds

    @property
    def prompts(self) -> PromptBundle:
        """The instructions that are text, and the texts in those that are functions."""
        agents = self.graph.agents
        return PromptBundle.of(
            *(
                Prompt(name, text, agents[name].handoff_description or "")
                for name, text in self.seeds.items()
            )
        )

    def identity(self) -> Mapping[str, Any]:
        """Return the path, the text of the code and the SDK's version."""
        _ = self.seeds  # the code is known when it has been imported
        return {
            "openai-agents": version("openai-agents"),
            "settings": self.settings.model_dump(mode="json", exclude={"folder", "kind"}),
            "code": code_identity(self.settings),
        }

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Refuse prompts of agents whose instructions cannot be replaced."""
        for name in prompts:
            if name not in self.seeds:
                raise UsageError(
                    f"The prompt {source}/{name}.md cannot be used: {self._why_not(name)}"
                )

    def connect(self, means: Means) -> OpenAIAgentsAssistant:
        """Return the assistant; the SDK sends no traces from now on."""
        set_trace_processors([])
        context = self.settings.context
        make = context and imported_at(self.settings, context, "context")
        return OpenAIAgentsAssistant(self, means, make or None)

    def _why_not(self, name: str) -> str:
        if name in self.graph.unreachable:
            return (
                f"the handoff to '{name}' was not made by handoff(), so nothing is known of its "
                "agent before it is called."
            )
        if name not in self.graph.agents:
            return f"there is no such agent. There are: {', '.join(self.graph.agents)}."
        if callable(self.graph.agents[name].instructions):
            return (
                f"the instructions of '{name}' are a function. Name the text in what it returns "
                f"that shall be tuned: 'texts: {{{name}: module:TEXT}}' under 'assistant'."
            )
        return f"the agent '{name}' has no instructions that another text could replace."


@dataclass(frozen=True)
class OpenAIAgentsAssistant:
    """See `Assistant`."""

    adapter: OpenAIAgentsAdapter
    means: Means
    make_context: MakeWorld | None = None

    @property
    def prompts(self) -> PromptBundle:
        """The seed prompts."""
        return self.adapter.prompts

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> OpenAIAgentsSession:
        """Open a conversation; see `Assistant.start`."""
        self.adapter.require(prompts, "prompts")
        return OpenAIAgentsSession(self, prompts, scenario_state)


class OpenAIAgentsSession(RecordedSession):
    """One conversation: it goes on with the agent that spoke last, as the SDK's own loop does."""

    def __init__(
        self,
        assistant: OpenAIAgentsAssistant,
        prompts: PromptBundle,
        scenario_state: Mapping[str, Any],
    ) -> None:
        super().__init__(scenario_state)
        adapter = assistant.adapter
        self._context = made(assistant.make_context, self.world, "context")
        self._watch = Watch(assistant.means, adapter.seeds, prompts.texts())
        self._agent = adapter.graph.start
        self._max_turns = adapter.settings.max_turns
        self._items: list[TResponseInputItem] = []

    async def answer(self, message: str) -> str:
        """Run the agents until one has an answer."""
        self._watch.stopped = None
        items: list[TResponseInputItem] = [*self._items, {"role": "user", "content": message}]
        with watching(self._watch):
            try:
                result = await Runner.run(
                    self._agent, items, context=self._context, max_turns=self._max_turns
                )
            except tuple(_FAILURES) as error:
                kind = _FAILURES[type(error)]
                raise FaultError(Fault(FaultOrigin.ASSISTANT, kind, str(error))) from error
        if self._watch.stopped is not None:
            raise self._watch.stopped
        if result.interruptions:
            waits = "a tool waits for a person's approval, and no person is there"
            raise FaultError(Fault(FaultOrigin.ASSISTANT, "approval", waits))
        self._agent, self._items = result.last_agent, result.to_input_list()
        return said(result.final_output)

    def state(self) -> Mapping[str, Any]:
        """Return a JSON snapshot of the run's context."""
        return state_of(self._context, self.world)
