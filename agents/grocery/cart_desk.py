"""Carrying out what the cart agent says, within the rules of `rules.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import tools, wording
from .open_turn import OpenTurn
from .rules import Candidate
from .world import World


async def change_cart(
    turn: OpenTurn,
    brief: str,
    on_offer: Sequence[Candidate],
    stands_in_for: Mapping[str, str],
) -> None:
    """Ask the cart agent and carry out its operations.

    Args:
        turn: The turn.
        brief: What the briefer wrote.
        on_offer: What may be put into the cart without asking, beside what is in it already.
        stands_in_for: From a substitute's id to the id of what was asked for.
    """
    said = await turn.ask(
        "cart",
        message=turn.message,
        brief=brief,
        cart=cart_lines(turn.world),
        shown=wording.as_read(on_offer),
    )
    orderable = {each["id"] for each in on_offer} | turn.world.cart.keys()
    view = None
    for operation in said["operations"]:
        if operation["action"] == "add" and operation["product"] not in orderable:
            turn.events.append(f"'{operation['product']}' has not been shown, so it is not added.")
            continue
        view = _carry_out(turn, operation, stands_in_for) or view
    if view is not None:
        turn.events.append(wording.cart(view))
    if turn.world.checked_out:
        turn.events.append("The order is placed.")


def cart_lines(world: World) -> list[dict[str, Any]]:
    """Return the cart as the cart agent sees it; `id` is what its operations refer to."""
    return [
        {
            "id": line["product_id"],
            **{name: line[name] for name in ("name", "brand", "size", "quantity", "price")},
        }
        for line in tools.view_cart(world)["lines"]
    ]


def _carry_out(
    turn: OpenTurn, operation: Mapping[str, Any], stands_in_for: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return the cart afterwards; None when the shop refused."""
    product, quantity = operation["product"], operation["quantity"]
    match operation["action"]:
        case "add":
            return turn.use(
                "cart",
                tools.add_to_cart,
                product_id=product,
                quantity=quantity,
                substitute_for=stands_in_for.get(product),
            )
        case "set_quantity":
            return turn.use("cart", tools.set_quantity, product_id=product, quantity=quantity)
        case "remove":
            return turn.use("cart", tools.remove_from_cart, product_id=product)
        case "clear":
            return turn.use("cart", tools.clear_cart)
        case "checkout":
            return turn.use("cart", tools.check_out)
        case _:
            return turn.use("cart", tools.view_cart)
