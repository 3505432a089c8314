"""An assistant written with Pydantic AI: one agent, or a function that runs several."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any, cast

from pydantic_ai import Agent, UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.agent import WrapperAgent
from pydantic_ai.messages import ModelMessage

from ..errors import Fault, FaultError, FaultOrigin, UsageError
from ..prompts import Prompt, PromptBundle
from .adapter import Means
from .function import Conversation
from .imported import code_identity, imported, imported_at
from .pydantic_ai_watch import Seed, Watch, seed_of, watching
from .said import said
from .session import RecordedSession
from .settings import PydanticAISettings
from .threads import in_thread
from .world import MakeWorld, made, state_of

AnyAgent = Agent[Any, Any]
Entry = Callable[[str, Conversation], "str | Awaitable[str]"]


@dataclass(frozen=True)
class PydanticAIAdapter:
    """The agents that the configuration names; see `Adapter`."""

    settings: PydanticAISettings

    @property
    def name(self) -> str:
        """The entry's module."""
        return self.settings.name

    @cached_property
    def entry(self) -> AnyAgent | Entry:
        """What is talked to.

        Raises:
            UsageError: It is no agent and no function `reply(message, session)`.
        """
        found = imported(self.settings)
        if isinstance(found, WrapperAgent | Agent):
            return _unwrapped(found)
        try:
            inspect.signature(found).bind("message", "session")
        except TypeError as error:
            raise UsageError(
                f"assistant.path: '{self.settings.path}' must be an agent of Pydantic AI or a "
                f"function that takes (message, session): {error}."
            ) from error
        if self.settings.deps is not None:
            raise UsageError(
                "assistant.deps is for an agent; a function makes what its agents need itself, "
                "of session.state."
            )
        return cast(Entry, found)

    @cached_property
    def agents(self) -> Mapping[str, AnyAgent]:
        """The agents by the names of their prompts.

        Raises:
            UsageError: What the configuration names is no agent, or it names none.
        """
        named = {name: self._agent(name, place) for name, place in self.settings.agents.items()}
        if named:
            return named
        if not isinstance(self.entry, Agent):
            raise UsageError(
                f"assistant.agents is empty, and '{self.settings.path}' is a function: name its "
                "agents, such as 'agents: {search: module:search_agent}'."
            )
        return {self.settings.path.rpartition(":")[2].rpartition(".")[2]: self.entry}

    @cached_property
    def seeds(self) -> Mapping[str, Seed]:
        """By agent, the text that is tuned.

        Raises:
            UsageError: An agent has none.
        """
        return {name: seed_of(name, agent) for name, agent in self.agents.items()}

    @property
    def prompts(self) -> PromptBundle:
        """The literal instructions or system prompts."""
        return PromptBundle.of(*(Prompt(name, seed.text) for name, seed in self.seeds.items()))

    def identity(self) -> Mapping[str, Any]:
        """Return the settings, the text of the code and the framework's version."""
        _ = self.entry, self.seeds  # the code is known when it has been imported
        return {
            "pydantic-ai": version("pydantic-ai-slim"),
            "settings": self.settings.model_dump(mode="json", exclude={"folder", "kind"}),
            "code": code_identity(self.settings),
        }

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Refuse prompts of agents that the configuration does not name."""
        for name in prompts:
            if name not in self.seeds:
                raise UsageError(
                    f"The prompt {source}/{name}.md cannot be used: 'agents' under 'assistant' "
                    f"names no such agent. It names: {', '.join(self.seeds)}."
                )

    def connect(self, means: Means) -> PydanticAIAssistant:
        """Return the assistant."""
        deps = self.settings.deps
        make = None if deps is None else imported_at(self.settings, deps, "deps")
        return PydanticAIAssistant(self, means, make)

    def _agent(self, name: str, place: str) -> AnyAgent:
        found = imported_at(self.settings, place, f"agents.{name}")
        if not isinstance(found, WrapperAgent | Agent):
            raise UsageError(
                f"assistant.agents.{name}: '{place}' is {type(found).__name__}, not an agent of "
                "Pydantic AI."
            )
        return _unwrapped(found)


def _unwrapped(agent: WrapperAgent[Any, Any] | AnyAgent) -> AnyAgent:
    inner: Any = agent
    while isinstance(inner, WrapperAgent):
        inner = inner.wrapped
    return inner


@dataclass(frozen=True)
class PydanticAIAssistant:
    """See `Assistant`."""

    adapter: PydanticAIAdapter
    means: Means
    make_deps: MakeWorld | None = None

    @property
    def prompts(self) -> PromptBundle:
        """The seed prompts."""
        return self.adapter.prompts

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> RecordedSession:
        """Open a conversation; see `Assistant.start`."""
        self.adapter.require(prompts, "prompts")
        watch = Watch(self.means, self.adapter.agents, self.adapter.seeds, prompts.texts())
        entry = self.adapter.entry
        if isinstance(entry, Agent):
            return AgentSession(watch, entry, scenario_state, self.make_deps)
        return EntrySession(watch, entry, scenario_state, seed)


class WatchedSession(RecordedSession):
    """A conversation whose agents' runs are watched."""

    def __init__(self, watch: Watch, scenario_state: Mapping[str, Any]) -> None:
        super().__init__(scenario_state)
        self._watch = watch

    async def spoken(self, message: str) -> str:
        """Return what the agents say."""
        raise NotImplementedError

    async def answer(self, message: str) -> str:
        """Have the agents answer, and see to what they may have kept to themselves."""
        self._watch.stopped = None
        try:
            with watching(self._watch):
                text = await self.spoken(message)
        except UsageLimitExceeded as error:
            fault = Fault(FaultOrigin.ASSISTANT, "usage_limit", str(error))
            raise FaultError(fault) from error
        except UnexpectedModelBehavior as error:
            fault = Fault(FaultOrigin.ASSISTANT, "model_behavior", str(error))
            raise FaultError(fault) from error
        if self._watch.stopped is not None:
            raise self._watch.stopped
        return text


class AgentSession(WatchedSession):
    """One conversation with an agent, which is given all messages so far."""

    def __init__(
        self,
        watch: Watch,
        agent: AnyAgent,
        scenario_state: Mapping[str, Any],
        make_deps: MakeWorld | None,
    ) -> None:
        super().__init__(watch, scenario_state)
        self._agent = agent
        self._deps = made(make_deps, self.world, "deps")
        self._messages: Sequence[ModelMessage] = ()

    async def spoken(self, message: str) -> str:
        """Run the agent."""
        result = await self._agent.run(message, message_history=self._messages, deps=self._deps)
        self._messages = result.all_messages()
        return said(result.output)

    def state(self) -> Mapping[str, Any]:
        """Return a JSON snapshot of the dependencies."""
        return state_of(self._deps, self.world)


class EntrySession(WatchedSession):
    """One conversation with a function; messages from turn to turn are kept by the function."""

    def __init__(
        self, watch: Watch, entry: Entry, scenario_state: Mapping[str, Any], seed: int
    ) -> None:
        super().__init__(watch, scenario_state)
        self._entry = entry
        self._conversation = Conversation(self.world, seed)

    async def spoken(self, message: str) -> str:
        """Call the function."""
        conversation = self._conversation
        if inspect.iscoroutinefunction(self._entry):
            text = await self._entry(message, conversation)
        else:  # in a thread, or it would hold up all other conversations
            text = await in_thread(self._entry, message, conversation)
            text = await text if inspect.isawaitable(text) else text
        conversation.history.append((message, said(text)))
        self.world = conversation.state
        return said(text)
