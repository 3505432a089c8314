"""One conversation as a person reads it on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..agents.assistant import AgentCall, ToolCall
from ..simulation.trajectory import Trajectory, Turn
from .brief import brief, fields, plain
from .state_changes import state_changes

_LABEL_WIDTH = 12
_LONG = 400
_SHOWN_ELSEWHERE = ("goal", "system", "greeting", "unanswered", "missing")
_STYLES = {
    "customer": "bold cyan",
    "assistant": "bold green",
    "refused": "red",
    "fault": "bold red",
    "no answer": "red",
}


def transcript(trajectory: Trajectory, *, notes: bool = False) -> Iterator[RenderableType]:
    """Yield what is printed: a head, a block for each turn, and how it ended.

    Nothing in it is markup, and control characters are left out, whoever wrote them.

    Args:
        trajectory: The conversation.
        notes: Whether to show why the customer said what they said.
    """
    yield _block(_head(trajectory))
    state = trajectory.initial_state
    for number, turn in enumerate(trajectory.turns, start=1):
        yield Text(f"\nturn {number}", style="dim")
        yield _block(_rows(turn, state, notes=notes))
        state = turn.state
    yield Text()
    yield _block(_end(trajectory))


_Rows = Iterator[tuple[str, str]]


def _head(trajectory: Trajectory) -> _Rows:
    metadata = trajectory.metadata
    yield "scenario", brief(trajectory.scenario)
    for name in ("goal", "system"):
        if metadata.get(name):
            yield name, brief(metadata[name], _LONG)
    rest = {name: value for name, value in metadata.items() if name not in _SHOWN_ELSEWHERE}
    if rest:
        yield "about", fields(rest, _LONG)
    if metadata.get("missing"):
        yield "not known", brief(", ".join(map(str, metadata["missing"])))
    if metadata.get("greeting"):
        yield "assistant", plain(str(metadata["greeting"]))


def _rows(turn: Turn, before: Mapping[str, Any], *, notes: bool) -> _Rows:
    yield "customer", plain(turn.message)
    if notes and turn.notes:
        yield "  note", fields(turn.notes, _LONG)
    for call in turn.reply.calls:
        yield from _call(call, turn.reply.text)
    yield "assistant", plain(turn.reply.text) or "(says nothing)"
    for name, change in state_changes(before, turn.state):
        yield f"  {brief(name)}", change


def _call(call: AgentCall | ToolCall, reply: str) -> _Rows:
    if isinstance(call, AgentCall):
        told = {
            name: "(the reply below)" if reply and value == reply else value
            for name, value in call.outputs.items()
        }
        yield "  agent", f"{brief(call.agent)}: {fields(told) or 'nothing'}"
        return
    request = f"{brief(call.tool)}({fields(call.arguments)})"
    if call.error:
        yield "  tool", request
        yield "  refused", brief(call.error)
    else:
        yield "  tool", f"{request} → {brief(call.result)}"


def _end(trajectory: Trajectory) -> _Rows:
    if trajectory.metadata.get("unanswered"):
        yield "customer", plain(str(trajectory.metadata["unanswered"]))
        yield "no answer", "the conversation ends here"
    yield "stopped", trajectory.stop.value
    fault = trajectory.fault
    if fault is not None:
        yield "fault", f"{fault.origin.value} ({brief(fault.kind)}): {brief(fault.message, _LONG)}"


def _block(rows: _Rows) -> Table:
    """Lay out labels on the left and texts, wrapped, beside them."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=_LABEL_WIDTH, no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        style = _STYLES.get(label.strip(), "dim")
        spoken = label in ("customer", "assistant", "fault")
        table.add_row(Text(label, style=style), Text(text, style="" if spoken else style))
    return table
