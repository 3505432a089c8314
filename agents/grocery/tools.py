"""The shop's tools: small functions over a world, each returning JSON values or refusing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .catalog import Product
from .finder import Query, Rank, closeness, rank
from .memory import forget, past_orders, recall, remember
from .refusals import (
    ToolError,
    known_product,
    known_store,
    line_in_cart,
    listed,
    require_open_order,
    require_stock,
    valid_quantity,
)
from .world import CartLine, Offer, World

__all__ = [
    "Query",
    "ToolError",
    "add_to_cart",
    "check_out",
    "choose",
    "choose_store",
    "clear_cart",
    "find_products",
    "forget",
    "past_orders",
    "recall",
    "remember",
    "remove_from_cart",
    "set_quantity",
    "show",
    "shown",
    "substitutes",
    "view_cart",
]

CANDIDATE_LIMIT = 7


def find_products(world: World, query: Query) -> list[dict[str, Any]]:
    """Return up to seven candidates for the query, best first; empty when nothing is near.

    Products that break the query's diet, price limit or exclusions come last, not never: whether
    one will do is for the selector to decide.

    Raises:
        ToolError: The query names a store there is not.
    """
    store = known_store(world, query.store) if query.store else None
    ranked: list[tuple[Rank, Product, Offer]] = []
    for product in world.catalog.products.values():
        distance = closeness(query.product, product)
        offer = world.offer(product, store)
        if distance is not None and offer.store is not None:
            ranked.append((rank(query, product, offer, distance), product, offer))
    ranked.sort(key=lambda entry: entry[0])
    return [_candidate(product, offer) for _, product, offer in ranked[:CANDIDATE_LIMIT]]


def substitutes(world: World, product_id: str) -> list[dict[str, Any]]:
    """Return what may replace a product and is in stock, best first.

    Raises:
        ToolError: There is no such product.
    """
    others = [known_product(world, id_) for id_ in known_product(world, product_id).substitutes]
    offers = [(other, world.offer(other)) for other in others]
    return [_candidate(other, offer) for other, offer in offers if offer.stock]


def show(world: World, product_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Put products on the screen in place of what was there, and return them as candidates.

    Raises:
        ToolError: There is no such product.
    """
    products = [known_product(world, id_) for id_ in dict.fromkeys(product_ids)]
    world.shown = [product.id for product in products]
    return shown(world)


def shown(world: World) -> list[dict[str, Any]]:
    """Return the products on the screen as candidates, in the order shown."""
    products = [world.catalog.products[id_] for id_ in world.shown]
    return [_candidate(product, world.offer(product)) for product in products]


def choose(world: World, product_id: str) -> dict[str, Any]:
    """Return one of the shown products as a candidate.

    Raises:
        ToolError: It is not on the screen, or cannot be had.
    """
    product = known_product(world, product_id)
    if product.id not in world.shown:
        raise ToolError(f"{product.id} is not on the screen; shown: {listed(world.shown)}.")
    require_stock(world, product, 1)
    return _candidate(product, world.offer(product))


def add_to_cart(
    world: World, product_id: str, quantity: int = 1, substitute_for: str | None = None
) -> dict[str, Any]:
    """Put packs of a product into the cart, on top of those already there.

    Args:
        world: The conversation's world.
        product_id: What to add.
        quantity: Packs, 1 to 99.
        substitute_for: Id of the product that it replaces with the customer's consent.

    Returns:
        The cart, as `view_cart` does.

    Raises:
        ToolError: There is no such product, the quantity is not one, or the stock is too small.
    """
    require_open_order(world)
    product = known_product(world, product_id)
    replaced = known_product(world, substitute_for).id if substitute_for else None
    line = world.cart.get(product.id, CartLine(0))
    quantity = valid_quantity(line.quantity + valid_quantity(quantity))
    require_stock(world, product, quantity)
    world.cart[product.id] = CartLine(quantity, replaced or line.approved_substitute_for)
    return view_cart(world)


def set_quantity(world: World, product_id: str, quantity: int) -> dict[str, Any]:
    """Change how many packs of a product are in the cart, and return the cart.

    Raises:
        ToolError: It is not in the cart, the quantity is not one, or the stock is too small.
    """
    require_open_order(world)
    line = line_in_cart(world, product_id)
    quantity = valid_quantity(quantity)
    if quantity > line.quantity:
        require_stock(world, world.catalog.products[product_id], quantity)
    line.quantity = quantity
    return view_cart(world)


def remove_from_cart(world: World, product_id: str) -> dict[str, Any]:
    """Take a product out of the cart, all packs of it, and return the cart.

    Raises:
        ToolError: It is not in the cart.
    """
    require_open_order(world)
    line_in_cart(world, product_id)
    del world.cart[product_id]
    return view_cart(world)


def clear_cart(world: World) -> dict[str, Any]:
    """Empty the cart and return it."""
    require_open_order(world)
    world.cart.clear()
    return view_cart(world)


def view_cart(world: World) -> dict[str, Any]:
    """Return the cart's lines, as in the world's snapshot, and its total in euros."""
    snapshot = world.snapshot()
    return {"lines": snapshot["cart"], "total": snapshot["total"]}


def check_out(world: World) -> dict[str, Any]:
    """Order what is in the cart; it cannot be changed afterwards. Returns the cart.

    Raises:
        ToolError: No store is chosen, the cart is empty or holds something that cannot be had,
            or it is ordered already.
    """
    require_open_order(world)
    if not world.cart:
        raise ToolError("The cart is empty: there is nothing to order.")
    if world.store is None:
        raise ToolError("No store is chosen yet; an order goes to one store.")
    for id_, line in world.cart.items():
        require_stock(world, world.catalog.products[id_], line.quantity)
    world.checked_out = True
    return view_cart(world)


def choose_store(world: World, store: str) -> dict[str, Any]:
    """Shop in one store from now on; prices and stock become that store's.

    Args:
        world: The conversation's world.
        store: Its id, or its name or type as far as only one store is meant.

    Returns:
        The store's `id`, `name` and `type`, and under `missing` the ids of the products in the
        cart that it does not have in the amount wanted.

    Raises:
        ToolError: There is no such store, or there are several.
    """
    require_open_order(world)
    chosen = known_store(world, store)
    world.store = chosen
    products = world.catalog.products
    missing = [
        id_ for id_, line in world.cart.items() if world.offer(products[id_]).stock < line.quantity
    ]
    return {"id": chosen.id, "name": chosen.name, "type": chosen.type, "missing": missing}


def _candidate(product: Product, offer: Offer) -> dict[str, Any]:
    return {
        "id": product.id,
        "name": product.name,
        "product": product.product,
        "brand": product.brand,
        "size": product.size,
        "price": offer.price,
        "diet": list(product.diet),
        "in_stock": offer.stock > 0,
        "store": offer.store.name if offer.store else "",
    }
