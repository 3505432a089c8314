"""Small conversations with a grocery assistant, for the tests of checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.grocery.world import World
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

BUTTERS = [
    {"id": "p-019", "name": "Butter", "brand": "Hof", "price": 2.29},
    {"id": "p-021", "name": "Gluten-free butter", "brand": "Hof", "price": 2.99},
    {"id": "p-020", "name": "Organic butter", "brand": "Grünhof", "price": 3.19},
]
FOUND = ToolCall("find_products", "search", {}, BUTTERS)
SPOKEN = AgentCall("responder", {}, {})


def line(product: str, quantity: float = 1, **other: Any) -> dict[str, Any]:
    return {
        "product_id": f"p-{product}",
        "name": product.title(),
        "product": product,
        "brand": "Hof",
        "size": "1 l",
        "quantity": quantity,
        "price": 2.0,
        "diet": [],
        "approved_substitute_for": None,
        **other,
    }


def exchange(
    message: str = "Hello.",
    reply: str = "Hello!",
    cart: Sequence[Mapping[str, Any]] | None = (),
    calls: Sequence[ToolCall] = (),
    **state: Any,
) -> Turn:
    world = {"checked_out": False, "shown": [], **state}
    if cart is not None:
        world["cart"] = list(cart)
    return Turn(message, Reply(reply, (*calls, SPOKEN)), world)


def conversation(*turns: Turn, **initial: Any) -> Trajectory:
    state = {"cart": [], "shown": [], **initial}
    return Trajectory("s-1", turns, state, StopReason.SATISFIED)


def scenario(**fields: Any) -> Scenario:
    return Scenario.model_validate({"id": "s-1", "family": "f", "goal": "Shop.", **fields})


def world(**state: Any) -> dict[str, Any]:
    """Return the snapshot of the real grocery world."""
    return World.of(state).snapshot()
