"""Runs of Pydantic AI agents as they are watched: prompts put in, calls written down.

The framework's own means for that are capabilities, whose hooks see each request to a model just
before it is sent, and each tool. One is added to the agents for as long as a conversation's turn
lasts, in that turn's context only; the agents themselves are never touched.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from pydantic_ai import Agent
from pydantic_ai._utils import Some
from pydantic_ai.capabilities import AbstractCapability, CombinedCapability
from pydantic_ai.messages import (
    AgentInstructionSource,
    InstructionId,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestContext, infer_model
from pydantic_ai.tools import RunContext

from ..assistant import AgentCall, ToolCall
from ..errors import CotuneError, UsageError
from ..recording import as_json, note
from .adapter import Means
from .outage import outage_of
from .usage import record_usage


@dataclass(frozen=True, slots=True)
class Seed:
    """The text of an agent that is tuned.

    Attributes:
        text: As it is sent.
        in_instructions: Whether it is sent as instructions; else it is a system prompt, which is
            part of the messages.
    """

    text: str
    in_instructions: bool


def seed_of(name: str, agent: Agent[Any, Any]) -> Seed:
    """Return an agent's literal instructions, else its one literal system prompt.

    Functions and templates depend on the run; they stay as they are, beside the text.

    Raises:
        UsageError: It has neither.
    """
    literal = [
        InstructionPart(text.strip())
        for each in agent._instructions  # there is no public way to read them
        if isinstance(text := each.instruction, str) and text.strip()
    ]
    if joined := InstructionPart.join(literal):
        return Seed(joined, in_instructions=True)
    prompts = agent._system_prompts
    if len(prompts) == 1 and prompts[0].strip():
        return Seed(prompts[0], in_instructions=False)
    found = f"{len(prompts)} system prompts" if prompts else "only functions or templates"
    raise UsageError(
        f"assistant.agents.{name}: the agent has no text to tune: it has no literal instructions, "
        f"and {found}. Give it 'instructions' as one text; functions may be added to it."
    )


@dataclass(slots=True)
class Watch:
    """What is done to the runs of one conversation.

    Attributes:
        means: Where usage is recorded.
        agents: By the names of their prompts.
        seeds: By agent, the text that is tuned.
        texts: By agent, the candidate's text in its place.
        stopped: What must end the conversation, though a tool may have swallowed it.
    """

    means: Means
    agents: Mapping[str, Agent[Any, Any]]
    seeds: Mapping[str, Seed]
    texts: Mapping[str, str]
    stopped: BaseException | None = None

    def instructions(
        self, agent: str, parts: Sequence[InstructionPart] | None
    ) -> list[InstructionPart]:
        """Return an agent's instructions with the candidate's text in them.

        Raises:
            UsageError: The text that is tuned is not among them, so the candidate's would be lost.
        """
        seed, replaced = self.seeds[agent], list(parts or ())
        for place, part in enumerate(replaced):
            if part.id == _OWN and part.content == seed.text:
                replaced[place] = replace(part, content=self.texts[agent])
                return replaced
        raise UsageError(
            f"The agent '{agent}' was run without the instructions that are tuned, so no other "
            "text can take their place. Leave it out of 'agents', or do not override its "
            "instructions."
        )

    def message(self, message: ModelMessage) -> ModelMessage:
        """Return a message with candidates' texts in place of system prompts that are tuned."""
        if not isinstance(message, ModelRequest):
            return message
        texts = {
            seed.text: self.texts[agent]
            for agent, seed in self.seeds.items()
            if agent in self.texts and not seed.in_instructions
        }
        parts = [
            replace(part, content=texts[part.content])
            if isinstance(part, SystemPromptPart) and part.content in texts
            else part
            for part in message.parts
        ]
        return replace(message, parts=parts)


MODELS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Model]] = WeakKeyDictionary()
"""By event loop, the models that agents name; connections do not outlive their loop."""

_OWN = InstructionId(AgentInstructionSource())


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Watch the runs of the agents that are started inside."""
    with ExitStack() as stack:
        for name, agent in watch.agents.items():
            stack.enter_context(_with(agent, Watcher(watch, name)))
        yield


@contextmanager
def _with(agent: Agent[Any, Any], watcher: Watcher) -> Iterator[None]:
    """Add a capability to an agent in this context.

    The public `override` takes only capabilities that can be written down, and drops all others.
    """
    both = CombinedCapability([agent._effective_root_capability(), watcher])
    token = agent._override_root_capability.set(Some(both))
    try:
        yield
    finally:
        agent._override_root_capability.reset(token)


@dataclass
class Watcher(AbstractCapability[Any]):
    """Puts one agent's prompt in, and writes down what the agent does.

    Attributes:
        watch: Of the conversation.
        agent: The agent's name in the bundle.
        began: When the last request was sent, in seconds.
    """

    watch: Watch
    agent: str
    began: float = 0.0

    async def for_run(self, ctx: RunContext[Any]) -> Watcher:
        """Return one for a single run: an agent may run several times at once."""
        return replace(self)

    async def resolve_model_id(self, ctx: Any, *, model_id: str) -> Model:
        """Return a model that all runs share; the framework would connect anew for each."""
        known = MODELS.setdefault(asyncio.get_running_loop(), {})
        if model_id not in known:
            known[model_id] = infer_model(model_id)
        return known[model_id]

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the candidate's text into what is sent; the history keeps the agent's own."""
        watch, given = self.watch, request_context
        if watch.means.budget is not None:
            watch.means.budget.check_call()
        self.began = time.monotonic()
        parameters = given.model_request_parameters
        if self.agent in watch.texts and watch.seeds[self.agent].in_instructions:
            filled = watch.instructions(self.agent, parameters.instruction_parts)
            parameters = replace(parameters, instruction_parts=filled)
        return replace(
            given,
            messages=[watch.message(message) for message in given.messages],
            model_request_parameters=parameters,
        )

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Write the call down."""
        received = _of_this_turn(request_context.messages)
        note(AgentCall(self.agent, {"messages": received}, _returned(response)))
        usage = response.usage
        record_usage(
            self.watch.means,
            self.agent,
            response.model_name or request_context.model.model_name,
            usage.input_tokens,
            usage.output_tokens,
            time.monotonic() - self.began,
        )
        return response

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        """Write the tool's call down, also one that is refused."""
        try:
            result = await handler(args)
        except Exception as error:
            note(ToolCall(call.tool_name, self.agent, as_json(args), None, str(error)))
            raise
        shown = result.return_value if isinstance(result, ToolReturn) else result
        note(ToolCall(call.tool_name, self.agent, as_json(args), as_json(shown)))
        return result

    async def on_run_error(self, ctx: RunContext[Any], *, error: BaseException) -> Any:
        """Remember what no tool of the team's may turn into a reply."""
        if isinstance(error, CotuneError) or outage_of(error) is not None:
            self.watch.stopped = self.watch.stopped or error
        raise error


def _of_this_turn(messages: Sequence[ModelMessage]) -> list[dict[str, Any]]:
    """Return the messages since the customer spoke last, in few words."""
    shown = [each for message in messages for part in message.parts for each in _shown(part)]
    said = [place for place, each in enumerate(shown) if each["role"] == "user"]
    return shown[said[-1] :] if said else shown


def _shown(part: Any) -> Iterator[dict[str, Any]]:
    match part:
        case UserPromptPart():
            yield {"role": "user", "content": as_json(part.content)}
        case ToolReturnPart():
            yield {"role": "tool", "tool": part.tool_name, "content": as_json(part.content)}
        case TextPart():
            yield {"role": "assistant", "content": part.content}
        case ToolCallPart():
            yield {"role": "assistant", "tool": part.tool_name, "arguments": _arguments(part)}


def _returned(response: ModelResponse) -> dict[str, Any]:
    asked = [
        {"tool": part.tool_name, "arguments": _arguments(part)}
        for part in response.parts
        if isinstance(part, ToolCallPart)
    ]
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    return {"text": text, **({"tool_calls": asked} if asked else {})}


def _arguments(part: ToolCallPart) -> Any:
    try:
        return as_json(part.args_as_dict())
    except ValueError:  # what a model wrote is no JSON object
        return {"arguments": part.args}
