"""Spans of a trace as calls of agents and tools, in the order in which they began."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...agents.assistant import AgentCall, ToolCall
from .chat_turns import UNKNOWN_AGENT

if TYPE_CHECKING:
    from mlflow.entities import Span

_TOOL = "TOOL"
_AGENT = "AGENT"
_MODELS = frozenset({"LLM", "CHAT_MODEL"})
_THINKS = _MODELS | {_AGENT}


def calls_of(spans: Sequence[Span]) -> Iterator[AgentCall | ToolCall]:
    """Yield what was called in a trace.

    An agent's span is a call of that agent, and the model calls inside it are its own business.
    A model call outside every agent counts as a call of the agent that the root is. The root
    itself, where it is an agent, is the assistant, and its call the turn.
    """
    by_id = {span.span_id: span for span in spans}
    for span in sorted(spans, key=lambda span: span.start_time_ns):
        above = list(_above(span, by_id))
        owner = next((one.name for one in above if one.span_type == _AGENT), UNKNOWN_AGENT)
        if span.span_type == _TOOL:
            arguments = _fields(span.inputs, "input")
            yield ToolCall(span.name, owner, arguments, span.outputs, error_of(span))
        elif span.span_type == _AGENT and above:
            yield _agent_call(span.name, span)
        elif span.span_type in _MODELS and not _belongs_to_another(above):
            yield _agent_call(owner, span)


def error_of(span: Span) -> str:
    """Return what went wrong in a span; empty when nothing did."""
    if span.status.status_code.value != "ERROR":
        return ""
    raised = [event.attributes.get("exception.message") for event in span.events]
    said = [span.status.description, *raised, "failed without a message"]
    return next(str(words) for words in said if words)


def _agent_call(name: str, span: Span) -> AgentCall:
    return AgentCall(name, _fields(span.inputs, "input"), _fields(span.outputs, "output"))


def _belongs_to_another(above: Sequence[Span]) -> bool:
    """Whether a span below the root, or a root that is a model call, has this one inside."""
    return any(
        span.span_type in _THINKS and (span.parent_id or span.span_type != _AGENT) for span in above
    )


def _above(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
    """Yield the spans around a span, the nearest first."""
    parent = by_id.get(span.parent_id or "")
    while parent is not None:
        yield parent
        parent = by_id.get(parent.parent_id or "")


def _fields(value: Any, name: str) -> dict[str, Any]:
    """Return an object as it is, and anything else as the only field of one."""
    if isinstance(value, Mapping):
        return dict(value)
    return {} if value is None else {name: value}
