"""The shop's rules for acting without asking the customer first.

- A product goes into the cart only when the customer ordered it (the cart agent says so) and
  it was either on the screen before the customer spoke, so that naming it is the approval, or
  was found just now and is in every respect what was asked for. Whatever differs is a
  substitute: it is shown, and the customer has to approve it in a later message.
- What is sold out is shown together with its substitutes; one of these that is put into the
  cart later is marked as the approved substitute for it.
- An order stays in one store. A store that the customer asks for becomes the order's store as
  long as it has everything that is in the cart already.

What is remembered about the customer is no rule here: it counts as far as the briefer passes
it on and the other agents make use of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .catalog import Store
from .finder import Query, closeness, rank
from .world import World

Candidate = Mapping[str, Any]

SOLD_OUT = "out of stock"
_SAME_THING = 2  # the `closeness` up to which a product is what its searched noun says


def as_ordered(world: World, query: Query, message: str) -> Query:
    """Return the query without a brand that is only a habit, for a habit is not an order."""
    habits = {known.value.casefold() for known in world.preferences if known.kind == "brand"}
    brand = query.brand.casefold()
    if brand in habits and brand not in message.casefold():
        return query.model_copy(update={"brand": ""})
    return query


def differences(world: World, query: Query, candidate: Candidate) -> tuple[str, ...]:
    """Say in what respects a candidate is not what was asked for; nothing when it is."""
    product = world.catalog.products[candidate["id"]]
    distance = closeness(query.product, product)
    if distance is None:
        return ("another product",)
    stores = world.catalog.stores_called(candidate["store"])
    offer = world.offer(product, stores[0] if stores else None)
    place = rank(query, product, offer, distance)
    differs = {
        "another product": distance > _SAME_THING,
        "not within the diet, price limit or exclusions": place.broken > 0,
        "another brand": place.other_brand,
        "another size": place.other_size,
        SOLD_OUT: place.sold_out,
    }
    return tuple(respect for respect, holds in differs.items() if holds)


def sold_out_wish(world: World, query: Query, candidates: Sequence[Candidate]) -> str | None:
    """Return the id of what was asked for if all that is wrong with it is that none is left.

    None when something in stock is just as much what was asked for.
    """
    found = [(differences(world, query, each), each["id"]) for each in candidates]
    if any(not differs for differs, _ in found):
        return None
    return next((id_ for differs, id_ in found if differs == (SOLD_OUT,)), None)


def has_whole_cart(world: World, store: Store) -> bool:
    """Whether the order could move to a store without losing anything."""
    products = world.catalog.products
    return all(
        world.offer(products[id_], store).stock >= line.quantity for id_, line in world.cart.items()
    )
