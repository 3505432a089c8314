"""What the tools refuse, and how they say it."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import CotuneError
from .catalog import Product, Store
from .world import MAX_QUANTITY, CartLine, World


class ToolError(CotuneError):
    """A tool refused; the message says why, and the world is as it was before."""


def known_product(world: World, product_id: str) -> Product:
    """Return the product with an id, or refuse."""
    product = world.catalog.products.get(product_id)
    if product is None:
        raise ToolError(f"There is no product with the id '{product_id}'.")
    return product


def known_store(world: World, text: str) -> Store:
    """Return the one store that is meant, or refuse."""
    stores = world.catalog.stores_called(text)
    if len(stores) != 1:
        problem = "no store" if not stores else "more than one store"
        names = (f"{store.name} ({store.type})" for store in world.catalog.stores.values())
        raise ToolError(f"'{text}' is {problem} of ours; there are {listed(names)}.")
    return stores[0]


def line_in_cart(world: World, product_id: str) -> CartLine:
    """Return the cart's line of a product, or refuse."""
    if product_id not in world.cart:
        raise ToolError(f"'{product_id}' is not in the cart; it holds {listed(world.cart)}.")
    return world.cart[product_id]


def valid_quantity(quantity: int) -> int:
    """Return a number of packs, or refuse."""
    whole = isinstance(quantity, int) and not isinstance(quantity, bool)
    if not whole or not 1 <= quantity <= MAX_QUANTITY:
        raise ToolError(f"A quantity is a whole number from 1 to {MAX_QUANTITY}, not {quantity}.")
    return quantity


def require_open_order(world: World) -> None:
    """Refuse when the order is placed."""
    if world.checked_out:
        raise ToolError("The order is placed already; it cannot be changed here any more.")


def require_stock(world: World, product: Product, quantity: int) -> None:
    """Refuse when a product cannot be had in this amount."""
    stock = world.stock(product)
    if stock >= quantity:
        return
    what = f"{product.name} ({product.id})"
    where = f"at {world.store.name}" if world.store else "in any store"
    if world.offer(product).store is None:
        raise ToolError(f"{what} is not sold {where}.")
    if stock == 0:
        raise ToolError(f"{what} is out of stock {where}.")
    raise ToolError(f"There are not {quantity} of {what} {where}, only {stock}.")


def listed(names: Iterable[str]) -> str:
    """Join names for a message."""
    return ", ".join(names) or "nothing"
