"""Assistants in LangGraph: graphs that read their prompts when they run, or that are built of them.

LangGraph has no prompts of its own, so an agent is a node that has a prompt of the same name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib.metadata import version
from typing import Any, get_type_hints
from uuid import uuid4

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Interrupt

from ..assistant import Session
from ..errors import UsageError
from ..prompts import Prompt, PromptBundle
from ..recording import as_json
from .adapter import Means
from .imported import code_identity, imported
from .lang_graph_recorder import MESSAGES, GraphRecorder
from .session import RecordedSession, UnfitSession
from .settings import LangGraphSettings

Graph = CompiledStateGraph
Build = Callable[[Mapping[str, str]], Any]

_BUNDLES = 64


@dataclass(frozen=True)
class LangGraphAdapter:
    """A graph, or a factory `build(prompts)` that returns one; see `Adapter`."""

    settings: LangGraphSettings

    @property
    def name(self) -> str:
        """The graph's module."""
        return self.settings.name

    @property
    def prompts(self) -> PromptBundle:
        """The mapping that the configuration names, if it does.

        Raises:
            UsageError: It is no mapping of nodes to texts.
        """
        return self._seeds

    @cached_property
    def _seeds(self) -> PromptBundle:
        if self.settings.prompts is None:
            return PromptBundle()
        where = self.settings.prompts
        found = imported(self.settings.model_copy(update={"path": where}))
        if not isinstance(found, Mapping) or not all(isinstance(t, str) for t in found.values()):
            raise UsageError(
                f"assistant.prompts: '{where}' must be a mapping of nodes to the texts of their "
                f"prompts, found {type(found).__name__}."
            )
        return PromptBundle.of(*(Prompt(str(node), text) for node, text in found.items()))

    def identity(self) -> Mapping[str, Any]:
        """Return the graph's path, where it reads prompts, its code and LangGraph's version."""
        _ = self._found, self.prompts  # their code is known when it has been imported
        return {
            "graph": self.settings.path,
            "field": self.settings.field,
            "code": code_identity(self.settings),
            "langgraph": version("langgraph"),
        }

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Refuse prompts of which the factory cannot build a graph.

        Whether a graph sends what it is given as it stands is up to its nodes.
        """
        try:
            self.graph_of(PromptBundle.of(*{**self.prompts, **prompts}.values()))
        except UsageError as error:
            raise UsageError(f"With the prompts in {source}: {error}") from error

    def connect(self, means: Means) -> LangGraphAssistant:
        """Return the assistant."""
        return LangGraphAssistant(self, means)

    def graph_of(self, prompts: PromptBundle) -> Graph:
        """Return the graph that talks under these prompts.

        Raises:
            UsageError: There is none, or it keeps no messages.
        """
        found = self._found if isinstance(self._found, Graph) else self._built(prompts)
        if MESSAGES not in found.channels:
            raise UsageError(
                f"assistant.path: the state of '{self.settings.path}' has no '{MESSAGES}', by "
                "which a conversation goes in and out; build on MessagesState."
            )
        return found

    def given(self, graph: Graph, prompts: PromptBundle) -> tuple[dict[str, Any], Any]:
        """Return what the graph is configured with, and its run's context."""
        field, texts = self.settings.field, prompts.texts()
        schema = graph.context_schema
        if schema is not None and field in get_type_hints(schema):
            return {}, {field: texts}
        return {field: texts}, None

    @cached_property
    def _found(self) -> Graph | Build:
        found = imported(self.settings)
        if isinstance(found, StateGraph):
            return found.compile()
        if isinstance(found, Graph) or callable(found):
            return found
        raise UsageError(
            f"assistant.path: '{self.settings.path}' is neither a graph nor a function "
            f"`build(prompts)` that returns one, but {type(found).__name__}."
        )

    @cached_property
    def _built(self) -> Callable[[PromptBundle], Graph]:
        """The factory, called once for each bundle: graphs keep nothing between conversations."""

        @lru_cache(maxsize=_BUNDLES)
        def built(prompts: PromptBundle) -> Graph:
            build = self._found
            assert not isinstance(build, Graph)
            try:
                made = build(prompts.texts())
            except Exception as error:  # whatever a team's code raises
                raise UsageError(
                    f"assistant.path: '{self.settings.path}' built no graph: "
                    f"{type(error).__name__}: {error}"
                ) from error
            made = made.compile() if isinstance(made, StateGraph) else made
            if not isinstance(made, Graph):
                raise UsageError(
                    f"assistant.path: '{self.settings.path}' must return a graph, "
                    f"found {type(made).__name__}."
                )
            return made

        return built


@dataclass(frozen=True)
class LangGraphAssistant:
    """See `Assistant`."""

    _adapter: LangGraphAdapter
    _means: Means

    @property
    def prompts(self) -> PromptBundle:
        """The seed prompts, where the configuration names a mapping."""
        return self._adapter.prompts

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> Session:
        """Open a conversation; see `Assistant.start`."""
        try:
            graph = self._adapter.graph_of(prompts)
        except UsageError as error:  # the seed prompts were fine, so it is these
            return UnfitSession(scenario_state, str(error))
        if unknown := sorted(set(scenario_state) - set(graph.builder.channels)):
            raise UsageError(
                f"The state of the graph has no '{unknown[0]}', with which the conversation should "
                f"start. It has: {', '.join(sorted(graph.builder.channels))}."
            )
        given, context = self._adapter.given(graph, prompts)
        recorder = partial(GraphRecorder, tuple(prompts), self._means)
        return LangGraphSession(_apart(graph), given, context, scenario_state, recorder)


def _apart(graph: Graph) -> Graph:
    """Return a copy with a memory of its own.

    It neither writes to a team's database, nor answers from a cache whose keys know nothing of
    prompts.
    """
    store = None if graph.store is None else InMemoryStore()
    return graph.copy({"checkpointer": InMemorySaver(), "store": store, "cache": None})


class LangGraphSession(RecordedSession):
    """One conversation with a graph; the world is the graph's state without the messages."""

    def __init__(
        self,
        graph: Graph,
        configured: Mapping[str, Any],
        context: Any,
        scenario_state: Mapping[str, Any],
        recorder: Callable[[], GraphRecorder],
    ) -> None:
        super().__init__(scenario_state)
        self._graph = graph
        self._configurable = {"thread_id": str(uuid4()), **configured}
        self._context = context
        self._recorder = recorder
        self._new: dict[str, Any] = self.world
        self._interrupts: tuple[Interrupt, ...] = ()

    async def answer(self, message: str) -> str:
        """Run the graph on the message; where it waits for an answer, the message is that."""
        said = {**self._new, MESSAGES: [HumanMessage(message)]}
        given = Command(resume=message) if self._interrupts else said
        config: RunnableConfig = {
            "configurable": self._configurable,
            "callbacks": [self._recorder()],
        }
        await self._graph.ainvoke(given, config, context=self._context, durability="exit")
        state = await self._graph.aget_state(config)
        self._new, self._interrupts = {}, state.interrupts
        self.world = {key: value for key, value in state.values.items() if key != MESSAGES}
        return _answer(state.values[MESSAGES], state.interrupts)


def _answer(messages: list[BaseMessage], interrupts: tuple[Interrupt, ...]) -> str:
    """Return what the graph asks where it waits for an answer, else its last message."""
    if not interrupts:
        return messages[-1].text
    asked = interrupts[0].value
    return asked if isinstance(asked, str) else json.dumps(as_json(asked), ensure_ascii=False)
