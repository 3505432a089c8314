"""What a graph does in a turn, as its callbacks tell it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.types import Command

from ..assistant import AgentCall, ToolCall
from ..recording import as_json, note
from .adapter import Means
from .usage import record_usage

MESSAGES = "messages"
_NODE, _NAMESPACE = "langgraph_node", "langgraph_checkpoint_ns"


@dataclass(frozen=True, slots=True)
class _Run:
    """A node, model or tool at work."""

    agent: str
    name: str
    inputs: Any
    since: float


class GraphRecorder(BaseCallbackHandler):
    """Notes each run of an agent's node, each tool, and what models used.

    A tool belongs to the agent that asked for it, also where another node runs it.
    """

    raise_error = True  # or its failures would only be logged
    run_inline = True  # in order, and where the turn is recorded

    def __init__(self, agents: Iterable[str], means: Means) -> None:
        """Record a turn.

        Args:
            agents: Names in the prompt bundle; nodes of these names are agents.
            means: What the assistant was connected with.
        """
        self._agents = frozenset(agents)
        self._means = means
        self._nodes: dict[UUID, _Run] = {}
        self._models: dict[UUID, _Run] = {}
        self._tools: dict[UUID, _Run] = {}
        self._asked_by: dict[str, str] = {}

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note that an agent's node starts."""
        node = (metadata or {}).get(_NODE)
        if node in self._agents and kwargs.get("name") == node and parent_run_id not in self._nodes:
            self._nodes[run_id] = _Run(node, node, _fields(inputs), time.monotonic())

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what the node returned."""
        if (run := self._nodes.pop(run_id, None)) is not None:
            note(AgentCall(run.agent, run.inputs, _fields(outputs)))

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note that the node failed, or handed over to another graph."""
        if (run := self._nodes.pop(run_id, None)) is not None:
            note(AgentCall(run.agent, run.inputs, {}))

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note when the model was asked."""
        known = metadata or {}
        model = str(known.get("ls_model_name", ""))
        self._models[run_id] = _Run(self._agent(known), model, None, time.monotonic())

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Record what the model used, and who asked for which tool."""
        run = self._models.pop(run_id, None)
        if run is None:  # a model that only completes texts
            return
        for message in _answers(response):
            for call in message.tool_calls:
                self._asked_by[call["id"] or ""] = run.agent
            used = message.usage_metadata
            record_usage(
                self._means,
                run.agent,
                message.response_metadata.get("model_name") or run.name,
                used["input_tokens"] if used else None,
                used["output_tokens"] if used else None,
                time.monotonic() - run.since,
            )

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what the tool is given."""
        asked_by = self._asked_by.get(kwargs.get("tool_call_id") or "")
        agent = self._agent(metadata or {}) if asked_by is None else asked_by
        given = as_json(inputs if inputs is not None else {"input": input_str})
        self._tools[run_id] = _Run(agent, serialized["name"], given, time.monotonic())

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what the tool returned."""
        run = self._tools.pop(run_id)
        note(ToolCall(run.name, run.agent, run.inputs, _result(output)))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what the tool refused."""
        run = self._tools.pop(run_id)
        note(ToolCall(run.name, run.agent, run.inputs, None, str(error) or type(error).__name__))

    def _agent(self, metadata: Mapping[str, Any]) -> str:
        """Return the innermost agent on the way to a node of a subgraph, else the outermost node.

        The way is written `node:id|node:id`, from the outermost node to the innermost.
        """
        way = [step.partition(":")[0] for step in metadata.get(_NAMESPACE, "").split("|")]
        return next((node for node in reversed(way) if node in self._agents), way[0])


def _answers(response: LLMResult) -> Iterable[AIMessage]:
    for generations in response.generations:
        for generation in generations:
            if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
                yield generation.message


def _fields(state: Any) -> dict[str, Any]:
    """Return a node's state or update, with its messages in their short form."""
    if isinstance(state, Command):
        return {**_fields(state.update), "goto": as_json(state.goto)}
    if not isinstance(state, Mapping):
        return {} if state is None else {"returned": as_json(state)}
    return {str(key): _plain(value) for key, value in state.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseMessage):
        return convert_to_openai_messages(value)
    if isinstance(value, list) and value and all(isinstance(part, BaseMessage) for part in value):
        return [convert_to_openai_messages(part) for part in value]
    return as_json(value)


def _result(output: Any) -> Any:
    """Return what a tool returned; LangChain writes what is not text as JSON."""
    if isinstance(output, Command):
        return _fields(output)
    content = output.content if isinstance(output, ToolMessage) else output
    if isinstance(content, str) and content[:1] in ("[", "{"):
        with suppress(ValueError):
            return json.loads(content)
    return as_json(content)
