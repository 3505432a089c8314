"""What the assistant had seen of the shop: the products in tool results and carts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...agents.assistant import AgentCall, ToolCall
from ...simulation.trajectory import Trajectory, Turn
from .cart import cart_in
from .text import normalise


@dataclass(frozen=True, slots=True)
class Item:
    """A product as a tool or the cart showed it; the same one may have been shown at two prices."""

    id: str
    name: str
    brand: str
    price: float


def items_seen(trajectory: Trajectory, turn: int) -> tuple[Item, ...]:
    """Return the products that were seen up to and in a turn, each price once."""
    seen = dict.fromkeys(_in_cart(trajectory.initial_state))
    for past in trajectory.turns[: turn + 1]:
        for call in past.reply.calls:
            if isinstance(call, ToolCall):
                seen |= dict.fromkeys(_in_result(call.result))
        seen |= dict.fromkeys(_in_cart(past.state))
    return tuple(seen)


def named_in(text: str, items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items whose name a text contains; a name inside a longer one does not count."""
    found = {normalise(item.name) for item in items if mentions(text, item.name)}
    longest = {name for name in found if not any(name in other for other in found - {name})}
    return tuple(item for item in items if normalise(item.name) in longest)


def mentions(text: str, name: str) -> bool:
    """Say whether a text contains a name, as whole words and as `normalise` sees them."""
    wanted, plain = normalise(name), normalise(text)
    place = plain.find(wanted) if wanted else -1
    while place >= 0:
        after = place + len(wanted)
        if not (plain[place - 1 : place].isalnum() or plain[after : after + 1].isalnum()):
            return True
        place = plain.find(wanted, place + 1)
    return False


def speaker(turn: Turn) -> str | None:
    """Return the agent that wrote the reply: the last one called."""
    agents = [call.agent for call in turn.reply.calls if isinstance(call, AgentCall)]
    return agents[-1] if agents else None


def _in_cart(state: Mapping[str, Any]) -> Iterator[Item]:
    for line in cart_in(state) or ():
        yield Item(line.product_id, line.name, line.brand, line.price)


def _in_result(result: Any) -> Iterator[Item]:
    """Yield the products anywhere in a tool's result."""
    match result:
        case {"id": str(id_), "name": str(name), "price": int() | float() as price}:
            yield Item(id_, name, str(result.get("brand", "")), float(price))
        case Mapping():
            for value in result.values():
                yield from _in_result(value)
        case list() | tuple():
            for value in result:
                yield from _in_result(value)
