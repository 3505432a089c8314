"""Runs of the OpenAI Agents SDK as they are watched: prompts put in, calls written down.

Every run passes the SDK's default runner: ours, that of an agent used as a tool, and one that a
tool of the team's starts itself. Inside a conversation that runner adds what the SDK has for it:
a filter of the model's input, hooks, and no tracing. The agents themselves are never touched.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import ReferenceType, ref

from agents import Agent, ModelResponse, RunConfig, RunHooks
from agents.items import TResponseInputItem
from agents.models import openai_provider
from agents.models.default_models import get_default_model
from agents.models.interface import Model
from agents.run import (
    AgentRunner,
    CallModelData,
    CallModelInputFilter,
    ModelInputData,
    set_default_agent_runner,
)
from agents.run_config import ToolErrorFormatter, ToolErrorFormatterArgs
from agents.run_context import RunContextWrapper
from agents.tool import Tool
from agents.tool_context import ToolContext

from ..assistant import AgentCall, ToolCall
from ..errors import CotuneError, UsageError
from ..recording import as_json, note
from .adapter import Means
from .openai_agents_graph import bundle_name
from .outage import outage_of
from .usage import record_usage


@dataclass(slots=True)
class Watch:
    """What is done to the runs of one conversation.

    Attributes:
        means: Where usage is recorded.
        seeds: By agent, the text in its instructions that is tuned.
        texts: By agent, the candidate's text in its place.
        stopped: What must end the conversation, though a tool may have swallowed it.
        refused: By tool call, what a tool raised.
    """

    means: Means
    seeds: Mapping[str, str]
    texts: Mapping[str, str]
    stopped: Exception | None = None
    refused: dict[str, str] = field(default_factory=dict)

    def instructions(self, agent: Agent[Any], said: str | None) -> str | None:
        """Return what the agent is told, with the candidate's text in it.

        Raises:
            UsageError: The text that is tuned is not in it, so the candidate's would be lost.
        """
        name = bundle_name(agent.name)
        if name not in self.texts:
            return said
        if self.seeds[name] not in (said or ""):
            raise UsageError(
                f"The instructions that the agent '{agent.name}' was given in this conversation do "
                "not hold the text that is tuned, so no other text can take its place. Leave "
                f"'{name}' out, or let its instructions hold the text."
            )
        return (said or "").replace(self.seeds[name], self.texts[name], 1)

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a run's options with ours added."""
        config = given.get("run_config") or RunConfig()
        config = RunConfig(**config) if isinstance(config, dict) else config
        return {
            **given,
            "run_config": replace(
                config,
                tracing_disabled=True,
                call_model_input_filter=_Filter.around(self, config.call_model_input_filter),
                tool_error_formatter=_Refusals.around(self, config.tool_error_formatter),
            ),
            "hooks": _Hooks(self, given.get("hooks") or RunHooks()),
        }


_watch: ContextVar[Watch | None] = ContextVar("cotune_openai_agents_watch", default=None)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Watch the runs that are started inside."""
    set_default_agent_runner(_RUNNER)
    _RUNNER.connect_in_this_loop()
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


class _WatchedRunner(AgentRunner):
    """The SDK's own runner; outside a conversation it does nothing else."""

    _loop: ReferenceType[asyncio.AbstractEventLoop] | None = None

    def connect_in_this_loop(self) -> None:
        """Have the SDK connect anew in each event loop.

        It keeps one HTTP client for good, whose open connections fail in the next loop.
        """
        loop = asyncio.get_running_loop()
        if self._loop is None or self._loop() is not loop:
            self._loop = ref(loop)
            openai_provider._http_client = None

    async def run(self, starting_agent: Any, input: Any, **kwargs: Any) -> Any:
        if (watch := _watch.get()) is None:
            return await super().run(starting_agent, input, **kwargs)
        try:
            return await super().run(starting_agent, input, **watch.options(kwargs))
        except Exception as error:
            if isinstance(error, CotuneError) or outage_of(error) is not None:
                watch.stopped = watch.stopped or error
            raise

    def run_streamed(self, starting_agent: Any, input: Any, **kwargs: Any) -> Any:
        if (watch := _watch.get()) is not None:
            kwargs = watch.options(kwargs)
        return super().run_streamed(starting_agent, input, **kwargs)


_RUNNER = _WatchedRunner()


@dataclass(frozen=True, slots=True)
class _Filter:
    """Puts the candidate's text in; the team's own filter comes after it."""

    watch: Watch
    then: CallModelInputFilter | None

    @classmethod
    def around(cls, watch: Watch, then: CallModelInputFilter | None) -> _Filter:
        return then if isinstance(then, cls) else cls(watch, then)

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        if self.watch.means.budget is not None:
            self.watch.means.budget.check_call()
        said = self.watch.instructions(data.agent, data.model_data.instructions)
        filled = ModelInputData(data.model_data.input, said)
        if self.then is None:
            return filled
        filtered = self.then(replace(data, model_data=filled))
        return filtered if isinstance(filtered, ModelInputData) else await filtered


@dataclass(frozen=True, slots=True)
class _Refusals:
    """Notes what tools raise; how the model is told is left to the team's own formatter."""

    watch: Watch
    then: ToolErrorFormatter | None

    @classmethod
    def around(cls, watch: Watch, then: ToolErrorFormatter | None) -> _Refusals:
        return then if isinstance(then, cls) else cls(watch, then)

    def __call__(self, args: ToolErrorFormatterArgs[Any]) -> Any:
        if args.kind == "tool_exception":
            self.watch.refused[args.call_id] = str(args.error or args.default_message)
        return None if self.then is None else self.then(args)


class _Hooks(RunHooks[Any]):
    """Writes down the calls of one run, and passes all on to the run's own hooks."""

    def __init__(self, watch: Watch, then: RunHooks[Any]) -> None:
        self._watch = watch
        self._then = then
        self._received: list[TResponseInputItem] = []
        self._began = 0.0

    async def on_llm_start(
        self, context: Any, agent: Agent[Any], system_prompt: str | None, input_items: Any
    ) -> None:
        self._received, self._began = _of_this_turn(input_items), time.monotonic()
        await self._then.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(self, context: Any, agent: Agent[Any], response: ModelResponse) -> None:
        name = bundle_name(agent.name)
        note(AgentCall(name, {"messages": as_json(self._received)}, _returned(response)))
        usage, seconds = response.usage, time.monotonic() - self._began
        record_usage(
            self._watch.means,
            name,
            _model_name(agent.model),
            usage.input_tokens,
            usage.output_tokens,
            seconds,
        )
        await self._then.on_llm_end(context, agent, response)

    async def on_tool_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], tool: Tool, result: object
    ) -> None:
        arguments: Mapping[str, Any] = {}
        refused = ""
        if isinstance(context, ToolContext):
            arguments = _arguments(context.tool_arguments)
            refused = self._watch.refused.pop(context.tool_call_id, "")
        shown = None if refused else as_json(_read(result))
        note(ToolCall(tool.name, bundle_name(agent.name), arguments, shown, refused))
        await self._then.on_tool_end(context, agent, tool, result)

    async def on_agent_start(self, context: Any, agent: Agent[Any]) -> None:
        await self._then.on_agent_start(context, agent)

    async def on_agent_end(self, context: Any, agent: Agent[Any], output: Any) -> None:
        await self._then.on_agent_end(context, agent, output)

    async def on_handoff(self, context: Any, from_agent: Agent[Any], to_agent: Agent[Any]) -> None:
        await self._then.on_handoff(context, from_agent, to_agent)

    async def on_tool_start(self, context: Any, agent: Agent[Any], tool: Tool) -> None:
        await self._then.on_tool_start(context, agent, tool)


def _of_this_turn(items: list[TResponseInputItem]) -> list[TResponseInputItem]:
    """Leave out the turns before the customer's last message."""
    said = [place for place, item in enumerate(items) if item.get("role") == "user"]
    return items[said[-1] :] if said else list(items)


def _returned(response: ModelResponse) -> dict[str, Any]:
    texts: list[str] = []
    asked: list[dict[str, Any]] = []
    for item in response.output:
        if item.type == "message":
            texts += [part.text for part in item.content if part.type == "output_text"]
        elif item.type == "function_call":
            asked.append({"tool": item.name, "arguments": _arguments(item.arguments)})
    return {"text": "".join(texts), **({"tool_calls": asked} if asked else {})}


def _arguments(text: str) -> Mapping[str, Any]:
    """Return a model's arguments; what is no JSON object is kept as it came."""
    read = _read(text or "{}")
    return read if isinstance(read, dict) else {"arguments": text}


def _read(result: Any) -> Any:
    """Return what a JSON text says: tools often return one."""
    if not isinstance(result, str) or result[:1] not in ("{", "["):
        return result
    try:
        return json.loads(result)
    except ValueError:
        return result


def _model_name(model: str | Model | None) -> str:
    if isinstance(model, Model):  # those of the SDK know the model's name, others need not
        return str(vars(model).get("model", type(model).__name__))
    return model or get_default_model()
