"""What a scenario's customer could buy in a store: the cheapest products that meet all terms.

An order stays in one store, so a basket is always one store's. The products are those that the
assistant's finder takes for what the errand's noun says, seen as its tools show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...agents.grocery import tools
from ...agents.grocery.catalog import Product, Store, load_catalog
from ...agents.grocery.finder import closeness
from ...agents.grocery.world import World
from ..scenario import ChangeErrand, ItemErrand, Scenario
from ..term import Term

_SAME_THING = 2  # the finder's `closeness` up to which a product is what its noun says


@dataclass(frozen=True, slots=True)
class Pick:
    """A product for an errand.

    Attributes:
        errand: The errand, with the number of packs.
        product_id: What is bought.
        replaces: Id of the product that it replaces with the customer's approval, if any.
    """

    errand: ItemErrand
    product_id: str
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Basket:
    """What a store has for a scenario.

    Attributes:
        store: The store.
        picks: One for every errand that it has something for.
        missing: Ids of the errands that it has nothing for.
        total: Euros for the whole cart, with what was in it before and stays.
    """

    store: Store
    picks: tuple[Pick, ...]
    missing: frozenset[str]
    total: float


def wanted_items(scenario: Scenario) -> list[ItemErrand]:
    """Return what should be in the cart in the end, beside what stays there untouched."""
    return [
        errand
        for errand in scenario.final.errands
        if isinstance(errand, ItemErrand) and errand.quantity > 0
    ]


def kept_lines(scenario: Scenario) -> Iterator[tuple[Product, int]]:
    """Yield what is in the cart from the start and no errand is about."""
    concerned = {errand.item for errand in scenario.final.errands if isinstance(errand, ItemErrand)}
    products = load_catalog().products
    for line in scenario.initial_state.get("cart", ()):
        product = products[line["product_id"]]
        if product.product not in concerned:
            yield product, line.get("quantity", 1)


def stores_wanted(scenario: Scenario) -> list[Store]:
    """Return the stores that the errands allow: those they name, or all."""
    stores = list(load_catalog().stores.values())
    for errand in scenario.final.errands:
        if isinstance(errand, ChangeErrand):
            reached = errand.reached
            stores = [
                store
                for store in stores
                if reached.get("store", store.id) == store.id
                and reached.get("store_type", store.type) == store.type
            ]
    return stores


def store_at_start(scenario: Scenario) -> list[Store]:
    """Return the store that is chosen already, as the only one; nothing when there is none."""
    id_ = scenario.initial_state.get("store")
    return [load_catalog().stores[id_]] if id_ else []


def basket(scenario: Scenario, store: Store, price_factor: float = 1.0) -> Basket:
    """Return what a store has for a scenario.

    Args:
        scenario: The scenario; what counts is what is wanted after all its revisions.
        store: The store.
        price_factor: By which prices are multiplied before they are compared with a limit.
    """
    world = World.of({**scenario.initial_state, "store": store.id})
    final = scenario.final
    found = {
        errand.id: _pick(
            world,
            errand,
            must=(*errand.must, *final.constraints),
            prefer=(*errand.prefer, *final.preferences),
            price_factor=price_factor,
        )
        for errand in wanted_items(scenario)
    }
    picks = tuple(pick for pick in found.values() if pick)
    products = world.catalog.products
    total = sum(
        store.price(product) * quantity
        for product, quantity in (
            *kept_lines(scenario),
            *((products[pick.product_id], pick.errand.quantity) for pick in picks),
        )
    )
    missing = frozenset(id_ for id_, pick in found.items() if pick is None)
    return Basket(store, picks, missing, round(total, 2))


def _pick(
    world: World,
    errand: ItemErrand,
    must: tuple[Term, ...],
    prefer: tuple[Term, ...],
    price_factor: float,
) -> Pick | None:
    """Return the cheapest product that will do: one as preferred, else one that replaces it."""
    close = _called(errand.item)

    def fitting(candidates: Iterable[Product], terms: tuple[Term, ...]) -> list[Product]:
        return [each for each in candidates if _meets(world, each, terms, price_factor)]

    def in_stock(candidates: Iterable[Product]) -> list[Product]:
        return [each for each in candidates if world.stock(each) >= errand.quantity]

    preferred = fitting(close, (*must, *prefer))
    if found := in_stock(preferred):
        return Pick(errand, _best(world, errand.item, found).id)
    if preferred and errand.substitute:
        sold_out = preferred[0].id
        ids = [each["id"] for each in tools.substitutes(world, sold_out)]
        instead = in_stock(fitting((world.catalog.products[id_] for id_ in ids), must))
        return Pick(errand, instead[0].id, sold_out) if instead else None
    unpreferred = in_stock(fitting(close, must))
    return Pick(errand, _best(world, errand.item, unpreferred).id) if unpreferred else None


@cache
def _called(noun: str) -> tuple[Product, ...]:
    """Return the products that the assistant's finder takes for what the noun says."""
    return tuple(
        product
        for product in load_catalog().products.values()
        if (distance := closeness(noun, product)) is not None and distance <= _SAME_THING
    )


def _best(world: World, noun: str, products: Iterable[Product]) -> Product:
    """Return what is in the cart already, else the nearest to the noun, else the cheapest."""
    return min(
        products,
        key=lambda each: (
            each.id not in world.cart,
            closeness(noun, each),
            world.offer(each).price,
            each.id,
        ),
    )


def _meets(world: World, product: Product, terms: Iterable[Term], price_factor: float) -> bool:
    (shown,) = tools.show(world, [product.id])
    item: Mapping[str, Any] = {**shown, "price": shown["price"] * price_factor}
    return all(term.holds(item) is True for term in terms)
