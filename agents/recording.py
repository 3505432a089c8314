"""What an assistant does in a turn, written down while it does it.

An assistant's own code says which agent is at work:

    with agent_call("search", message=message) as call:
        call.returned(answer=await ask_my_model(...))

Tools that are used inside belong to that agent, and so do the model calls that cotune makes.
Outside a conversation nothing is written down, so the same code runs in production.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_jsonable_python

from .assistant import AgentCall, ToolCall
from .ledger import charged_to


@dataclass(slots=True)
class Recording:
    """What was done so far in one turn, in the order in which it ended."""

    calls: list[AgentCall | ToolCall] = field(default_factory=list)


@dataclass(slots=True)
class OpenCall:
    """An agent's call that is under way.

    Attributes:
        agent: The agent's name in the prompt bundle.
        outputs: What it returned so far.
    """

    agent: str
    outputs: dict[str, Any] = field(default_factory=dict)

    def returned(self, **outputs: Any) -> None:
        """Note what the agent returned; anything that is not JSON is noted as text."""
        self.outputs.update(as_json(outputs))


_recording: ContextVar[Recording | None] = ContextVar("cotune_recording", default=None)
_at_work: ContextVar[str] = ContextVar("cotune_agent_at_work", default="")


@contextmanager
def recording() -> Iterator[Recording]:
    """Write down what is done inside, also in tasks that are started there."""
    token = _recording.set(record := Recording())
    try:
        yield record
    finally:
        _recording.reset(token)


@contextmanager
def agent_call(agent: str, /, **inputs: Any) -> Iterator[OpenCall]:
    """Say that an agent is at work, with what it received.

    It is written down when it ends, also when it fails.

    Args:
        agent: The agent's name in the prompt bundle.
        **inputs: What it was given.
    """
    call, given = OpenCall(agent), as_json(inputs)
    token = _at_work.set(agent)
    try:
        with charged_to(agent=agent):
            yield call
    finally:
        _at_work.reset(token)
        note(AgentCall(agent, given, call.outputs))


def tool_call(
    tool: str, arguments: Mapping[str, Any], result: Any = None, *, error: str = ""
) -> None:
    """Write down that the agent at work used a tool.

    Args:
        tool: The tool's name.
        arguments: What it was given.
        result: What it returned.
        error: What it refused.
    """
    note(ToolCall(tool, _at_work.get(), as_json(arguments), as_json(result), error))


def note(call: AgentCall | ToolCall) -> None:
    """Write down a call whose agent is known already."""
    if (record := _recording.get()) is not None:
        record.calls.append(call)


def as_json(value: Any) -> Any:
    """Return a value as JSON values; what has no JSON form becomes its text."""
    return to_jsonable_python(value, fallback=str, inf_nan_mode="null")
