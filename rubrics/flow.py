"""Data flow: what each agent of a turn received and returned, and who first said a thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..agents.assistant import AgentCall, ToolCall
from ..simulation.trajectory import Trajectory
from ..simulation.view import Item, View
from .checks.shop import mentions

_SHORTEST_HAND_OFF = 8


@dataclass(frozen=True, slots=True)
class Step:
    """One agent's call in its place.

    Attributes:
        turn: The turn, from 0.
        call: The call.
        received: The texts among its inputs, a line each; what describes an item is left out.
        options: The items among its inputs, by id, with all that is known of them.
        used: Arguments of the tools called for the agent until the next agent was called.
    """

    turn: int
    call: AgentCall
    received: str
    options: Mapping[str, Item]
    used: tuple[Mapping[str, Any], ...]

    @property
    def agent(self) -> str:
        """The agent."""
        return self.call.agent

    @property
    def chosen(self) -> tuple[str, ...]:
        """The ids among its options that it returned."""
        said = {value for value in leaves(self.call.outputs) if isinstance(value, str)}
        return tuple(id_ for id_ in self.options if id_ in said)

    def heard(self, words: tuple[str, ...]) -> bool:
        """Say whether one of some words is in what it received."""
        return any(mentions(self.received, word) for word in words if word)

    def said(self, words: tuple[str, ...]) -> bool:
        """Say whether one of some words is in what it returned."""
        texts = "\n".join(str(value) for value in leaves(self.call.outputs))
        return any(mentions(texts, word) for word in words if word)

    def feeds(self, later: Step) -> bool:
        """Say whether a text that it returned is part of what a later agent received."""
        return any(
            isinstance(value, str) and len(value) >= _SHORTEST_HAND_OFF and value in later.received
            for value in leaves(self.call.outputs)
        )


def steps_of(trajectory: Trajectory, turn: int, view: View) -> tuple[Step, ...]:
    """Return the agents' calls of a turn, in order.

    Args:
        trajectory: The conversation.
        turn: From 0.
        view: The view at the end, which knows every item.
    """
    steps: list[Step] = []
    pending: list[Mapping[str, Any]] = []
    for call in reversed(trajectory.turns[turn].reply.calls):
        if isinstance(call, ToolCall):
            pending.append(call.arguments)
            continue
        texts = "\n".join(_texts(call.inputs))
        options = {id_: {**view.known.get(id_, {}), **item} for id_, item in _items(call.inputs)}
        steps.append(Step(turn, call, texts, options, tuple(pending)))
        pending = []
    return tuple(reversed(steps))


def first_said_by(value: str, trajectory: Trajectory) -> tuple[int, AgentCall] | None:
    """Return the call that a value comes from: nobody else said or showed it before.

    Returns:
        The turn and the call; None when the customer, a tool or the world was first.
    """
    if mentions(_text(trajectory.initial_state), value):
        return None
    for index, turn in enumerate(trajectory.turns):
        if mentions(turn.message, value):
            return None
        for call in turn.reply.calls:
            shown = call.result if isinstance(call, ToolCall) else call.inputs
            if mentions(_text(shown), value):
                return None
            if isinstance(call, AgentCall) and mentions(_text(call.outputs), value):
                return index, call
    return None


def leaves(value: object) -> Iterator[object]:
    """Yield the values inside a JSON value that are neither mapping nor list."""
    match value:
        case Mapping():
            for inner in value.values():
                yield from leaves(inner)
        case list() | tuple():
            for inner in value:
                yield from leaves(inner)
        case _:
            yield value


def _text(value: object) -> str:
    return "\n".join(str(each) for each in leaves(value))


def _texts(value: object) -> Iterator[str]:
    """Yield the texts and numbers of a JSON value, without its items."""
    match value:
        case Mapping():
            if not _is_item(value):
                for inner in value.values():
                    yield from _texts(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts(inner)
        case None:
            return
        case _:
            yield str(value)


def _items(value: object) -> Iterator[tuple[str, dict[str, Any]]]:
    match value:
        case Mapping():
            if _is_item(value):
                yield str(value.get("id") or value.get("product_id")), dict(value)
            for inner in value.values():
                yield from _items(inner)
        case list() | tuple():
            for inner in value:
                yield from _items(inner)


def _is_item(value: Mapping[str, Any]) -> bool:
    return "name" in value and ("id" in value or "product_id" in value)
