"""A conversation as lines: one for everything that was said, called, returned or changed.

A line is a label and a text without line breaks, so nothing in a conversation can pass for
another line, and angle brackets are replaced, so that nothing can pass for a role header or one
of a model's own control tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ...agents.assistant import AgentCall, ToolCall
from ...agents.fingerprint import canonical_json
from ...simulation.trajectory import Trajectory, Turn

_AS_ABOVE = "(as above)"
_SILENCE = "(said nothing)"
_SHORT = 40  # a text up to here is repeated rather than referred to
_BRACKETS = str.maketrans("<>", "\u2039\u203a")
_KEYS = ("id", "product_id", "name")  # what tells records of a list apart
_NOTHING: tuple[Any, ...] = (None, "", [], {}, ())


class Kind(StrEnum):
    """What a line tells; shortening goes by it."""

    HEAD = "head"
    SAID = "said"
    RECEIVED = "received"
    RETURNED = "returned"
    CALLED = "called"
    RESULT = "result"
    STATE = "state"
    BACKGROUND = "background"
    NOTE = "note"


_LABEL_ONLY = frozenset({Kind.HEAD, Kind.NOTE})


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        label: What it tells, such as `customer`; it begins with a word of ours, whatever agents
            are called.
        text: From the conversation, without line breaks.
        kind: For shortening.
        turn: The turn (from 0), None before the first and after the last.
        agent: The agent concerned, if one is.
    """

    label: str
    text: str
    kind: Kind
    turn: int | None = None
    agent: str = ""

    def __str__(self) -> str:
        return self.label if self.kind in _LABEL_ONLY else f"{self.label}: {self.text}"


def lines_of(trajectory: Trajectory) -> Iterator[Line]:
    """Yield a conversation's lines, oldest first; turns are numbered from 1, as people count.

    Left out is what the assistant's side could not see: the customer's notes, the reason why the
    conversation ended, and metadata such as a recorded reward.
    """
    yield from _background(trajectory)
    before = trajectory.initial_state
    for index, turn in enumerate(trajectory.turns):
        yield Line(f"turn {index + 1}", "", Kind.HEAD, index)
        yield Line("customer", plain(turn.message) or _SILENCE, Kind.SAID, index)
        yield from _calls(index, turn)
        yield Line("assistant", plain(turn.reply.text) or _SILENCE, Kind.SAID, index)
        for change in state_changes(before, turn.state):
            yield Line("changed", change, Kind.STATE, index)
        before = turn.state
    unanswered = trajectory.metadata.get("unanswered")
    if unanswered:
        yield Line("customer, not answered", plain(str(unanswered)), Kind.SAID)
    if trajectory.final_state:
        yield Line("at the end", plain_json(trajectory.final_state), Kind.STATE)


def plain(text: str) -> str:
    """Return a text on one line, without invisible characters and angle brackets."""
    words = " ".join(text.split())
    visible = words if words.isprintable() else "".join(filter(str.isprintable, words))
    return visible.translate(_BRACKETS)


def plain_json(value: Any) -> str:
    """Return a JSON value on one line; see `plain`."""
    return plain(canonical_json(value))


def state_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], path: str = ""
) -> Iterator[str]:
    """Yield what differs between two states, one plain text for each place."""
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield from _change(plain(f"{path}{name}"), old, new)


def _change(place: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from state_changes(old, new, f"{place}.")
        return
    before, after = _by_key(old), _by_key(new)
    if before is None or after is None:
        yield f"{place}: {plain_json(old)} became {plain_json(new)}"
        return
    for key in before | after:
        if key not in after:
            yield f"{place} lost {plain_json(before[key])}"
        elif key not in before:
            yield f"{place} got {plain_json(after[key])}"
        else:
            yield from state_changes(before[key], after[key], f"{place}[{key}].")


def _background(trajectory: Trajectory) -> Iterator[Line]:
    system, greeting = (trajectory.metadata.get(name) for name in ("system", "greeting"))
    if system:
        yield Line("assistant's orders", plain(str(system)), Kind.BACKGROUND)
    if state := _filled(trajectory.initial_state):
        yield Line("at the start", plain_json(state), Kind.STATE)
    if greeting:
        yield Line("assistant", plain(str(greeting)), Kind.SAID)


def _calls(index: int, turn: Turn) -> Iterator[Line]:
    known = {canonical_json(turn.message), canonical_json(turn.reply.text)}
    for call in turn.reply.calls:
        match call:
            case AgentCall(agent, inputs, outputs):
                name = f"agent {plain(agent)}"
                received, returned = _fields(inputs, known), _fields(outputs, known)
                if received:  # what a log does not tell is not nothing
                    yield Line(f"{name} received", received, Kind.RECEIVED, index, agent)
                if returned:
                    yield Line(f"{name} returned", returned, Kind.RETURNED, index, agent)
            case ToolCall(tool, agent, arguments, result, error):
                who = f"tool called by {plain(agent)}" if agent else "tool called"
                told = f"{plain(tool)}({_fields(arguments, known)})"
                yield Line(who, told, Kind.CALLED, index, agent)
                answer = f"refused: {plain(error)}" if error else _told(result, known)
                yield Line("tool result", answer, Kind.RESULT, index, agent)


def _fields(values: Mapping[str, Any], known: set[str]) -> str:
    return ", ".join(f"{plain(str(name))}={_told(each, known)}" for name, each in values.items())


def _told(value: Any, known: set[str]) -> str:
    """Return a JSON value in which nothing long is repeated within a turn; `known` grows."""
    text = canonical_json(value)
    if len(text) > _SHORT and text in known:
        return _AS_ABOVE
    told = f"{{{_fields(value, known)}}}" if isinstance(value, Mapping) else plain(text)
    known.add(text)
    return told


def _filled(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if value not in _NOTHING}


def _by_key(value: Any) -> dict[str, Mapping[str, Any]] | None:
    """Return a list's records by what tells them apart; None when nothing does."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, Mapping) for each in value):
        return None
    records = {
        next((str(each[key]) for key in _KEYS if key in each), canonical_json(each)): each
        for each in value
    }
    return records if len(records) == len(value) else None
