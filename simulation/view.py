"""What the customer can see: the screen, the cart, and what is known of the items on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from ..agents.assistant import AgentCall, ToolCall
from .trajectory import Trajectory, Turn

Item = Mapping[str, Any]
"""An item's details as the assistant's tools gave them; it has at least `id` and `name`."""

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class View:
    """The customer's eyes.

    What is on the screen and in the cart is read from the world's state alone, never from what
    the assistant says of it; the tools' results only add the details of what is there.

    Attributes:
        state: The world's state.
        known: Details of every item seen so far, by id.
        sought: By id, the words the assistant looked up when it found the item.
    """

    state: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    known: Mapping[str, Item] = field(default_factory=lambda: _EMPTY)
    sought: Mapping[str, frozenset[str]] = field(default_factory=lambda: _EMPTY)

    @classmethod
    def of(cls, so_far: Trajectory) -> Self:
        """Return the view after the last turn."""
        view = cls.at_start(so_far.initial_state)
        for turn in so_far.turns:
            view = view.after(turn)
        return view

    @classmethod
    def at_start(cls, state: Mapping[str, Any]) -> Self:
        """Return the view before the first turn."""
        return cls(state, {item["id"]: item for item in _items_in(state)})

    def after(self, turn: Turn) -> Self:
        """Return the view after one more turn."""
        known, sought = dict(self.known), dict(self.sought)
        for call in turn.reply.calls:
            words = _words_looked_up(call)
            for item in _items_in(_content(call)):
                id_ = item["id"]
                known[id_] = {**known.get(id_, {}), **item}
                sought[id_] = sought.get(id_, frozenset()) | words
        for item in _items_in(turn.state):
            known[item["id"]] = {**known.get(item["id"], {}), **item}
        return type(self)(turn.state, known, sought)

    @property
    def offers(self) -> tuple[Item, ...]:
        """The items on the screen, in order; without those of which nothing is known."""
        shown = self.state.get("shown") or ()
        ids = (each if isinstance(each, str) else _id(each) for each in shown)
        return tuple(self.known[id_] for id_ in ids if id_ in self.known)

    @property
    def cart(self) -> tuple[Item, ...]:
        """The lines of the cart, each with `id`, `name`, `quantity` and the item's details."""
        lines = (line for line in self.state.get("cart") or () if _id(line))
        return tuple({**self.known.get(_id(line), {}), **line, "id": _id(line)} for line in lines)

    @property
    def total(self) -> float | None:
        """What the cart costs; None when the world does not say."""
        total = self.state.get("total")
        return None if total is None else float(total)


def _id(item: Mapping[str, Any]) -> str:
    """A line of a cart may call its item's id `product_id`, or know it by its name alone."""
    return str(item.get("id") or item.get("product_id") or item.get("name") or "")


def _content(call: AgentCall | ToolCall) -> object:
    return call.result if isinstance(call, ToolCall) else call.inputs


def _items_in(value: object) -> Iterator[dict[str, Any]]:
    """Yield every mapping inside a JSON value that describes an item."""
    match value:
        case Mapping():
            if isinstance(value.get("name"), str) and ("id" in value or "product_id" in value):
                yield {**value, "id": _id(value)}
            for inner in value.values():
                yield from _items_in(inner)
        case list() | tuple():
            for inner in value:
                yield from _items_in(inner)


def _words_looked_up(call: AgentCall | ToolCall) -> frozenset[str]:
    return frozenset(_texts_in(call.arguments)) if isinstance(call, ToolCall) else frozenset()


def _texts_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value.casefold()
        case Mapping():
            for inner in value.values():
                yield from _texts_in(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts_in(inner)
