"""What the customer can see."""

from __future__ import annotations

from typing import Any

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.view import View

MILK = {"id": "p-1", "name": "Oat drink", "price": 1.5}
TEA = {"id": "p-2", "name": "Green tea", "price": 2.5}


def view(*turns: Turn, **initial: Any) -> View:
    return View.of(Trajectory("s", turns, initial, StopReason.OPEN))


def turn(*calls: ToolCall | AgentCall, **state: Any) -> Turn:
    return Turn("hello", Reply("I've put everything into your cart.", calls), state)


def test_offers_are_on_the_screen_and_known_from_the_tools() -> None:
    found = ToolCall("find", "search", {"query": {"product": "Oat milk"}}, [MILK, TEA])
    seen = view(turn(found, shown=["p-2", "p-1", "p-9"]))
    assert [item["name"] for item in seen.offers] == ["Green tea", "Oat drink"]
    assert seen.sought["p-1"] == {"oat milk"}


def test_what_was_shown_before_is_known_and_not_on_offer() -> None:
    found = ToolCall("find", "search", {}, {"inside": [MILK]})
    seen = view(turn(found, shown=["p-1"]), turn(shown=[]))
    assert seen.offers == ()
    assert seen.known["p-1"]["price"] == 1.5


def test_a_line_of_the_cart_has_what_is_known_of_its_item() -> None:
    line = {"product_id": "p-1", "name": "Oat drink", "product": "oat milk", "quantity": 2}
    seen = view(turn(ToolCall("find", "search", {}, [MILK]), cart=[line], total=3, shown=["p-1"]))
    (in_cart,) = seen.cart
    assert (in_cart["id"], in_cart["price"], in_cart["quantity"]) == ("p-1", 1.5, 2)
    assert seen.offers[0]["product"] == "oat milk", "the cart tells what the screen does not"
    assert seen.total == 3.0


def test_items_on_the_screen_may_be_given_whole() -> None:
    assert [item["name"] for item in view(shown=[TEA]).offers] == ["Green tea"]


def test_what_an_agent_was_given_tells_of_items_on_the_screen() -> None:
    call = AgentCall("selector", {"candidates": [MILK]}, {"choice": "p-1"})
    assert view(turn(call, shown=["p-1"])).offers[0]["price"] == 1.5


def test_a_claim_puts_nothing_into_the_cart() -> None:
    seen = view(turn(cart=[]))
    assert seen.cart == ()
    assert seen.total is None
