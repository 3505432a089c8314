"""Drawing what fills a family's gaps: stores, customers, and products that are to be had."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from ...agents.grocery.catalog import Catalog, Product, Store
from ...agents.grocery.world import World
from .specification import Family, Slot, Vocabulary

Values = Mapping[str, Any]

_ROOM = 1.15  # what a limit leaves above the price it was made for
_TOO_LOW = 0.6  # of the lowest price anywhere


def draw(
    family: Family, number: int, vocabulary: Vocabulary, catalog: Catalog, rng: Random
) -> Values | None:
    """Return values for a family's gaps, or None when this draw does not work out.

    Args:
        family: The family.
        number: Of the scenario within it, from 0; lists of which one entry is used take turns.
        vocabulary: Words for what is drawn.
        catalog: What there is in the shop.
        rng: Decides everything else.

    Returns:
        By name: `store` (`id`, `name`, `type`), `customer` (`id`), every slot as described at
        `_item`, every choice, and `budget`, euros that are enough for all slots.
    """
    values: dict[str, Any] = {name: _turn(of, number) for name, of in family.choices.items()}
    if family.customers:
        values["customer"] = {"id": _turn(family.customers, number)}
    store = catalog.stores[_turn(family.stores, number) if family.stores else _any(catalog, rng)]
    values["store"] = {"id": store.id, "name": store.name, "type": store.type}
    cost, taken = 0.0, set[str]()
    for name, slot in family.slots.items():
        product = _product(slot, store, taken, vocabulary, catalog, rng)
        if product is None:
            return None
        item = _item(slot, product, store, vocabulary, catalog, rng)
        taken.add(product.product)
        cost += store.price(product) * max(item["quantity"], item["then"])
        values[name] = item
    return {**values, "budget": math.ceil(cost * _ROOM)}


def _turn(options: Sequence[Any], number: int) -> Any:
    return options[number % len(options)]


def _any(catalog: Catalog, rng: Random) -> str:
    return rng.choice(list(catalog.stores))


def _product(
    slot: Slot,
    store: Store,
    taken: set[str],
    vocabulary: Vocabulary,
    catalog: Catalog,
    rng: Random,
) -> Product | None:
    """Return a product that the store has in plenty; each noun is as likely as the others."""
    nouns = vocabulary.pools[slot.product] if isinstance(slot.product, str) else slot.product
    wanted = max(slot.quantity[1], slot.then[1] if slot.then else 0)
    found: dict[str, list[Product]] = {}
    for product in catalog.products.values():
        if (
            product.product in nouns
            and product.product not in taken
            and store.inventory.get(product.id, 0) >= wanted
            and (not slot.brand or product.brand in slot.brand)
            and (not slot.diet or set(slot.diet) & set(product.diet))
        ):
            found.setdefault(product.product, []).append(product)
    return rng.choice(found[rng.choice(sorted(found))]) if found else None


def _item(
    slot: Slot,
    product: Product,
    store: Store,
    vocabulary: Vocabulary,
    catalog: Catalog,
    rng: Random,
) -> dict[str, Any]:
    """Return what can be said of a drawn product.

    `noun` and `said` (what customers call it), `units` ("jars"), `quantity` and `some` ("two jars
    of honey"),
    `then` and `then_some` (the changed amount), `name`, `id`, `brand`, `size`, `diet`,
    `price` in the store, `limit` (a price limit that leaves room) and `low` (one that nothing
    meets), `total` (price times quantity), `ids` of all products of the noun, `kin` (ids of
    those of the same brand), `prices` of the kin in the store, and `brands` of its products
    in the store that carry the label.
    """
    quantity, then = _amounts(slot, rng)
    labels = [label for label in slot.diet if label in product.diet]
    label = rng.choice(labels) if labels else ""
    price = store.price(product)
    same = [each for each in catalog.products.values() if each.product == product.product]
    kin = [each for each in same if each.brand == product.brand]
    lowest = min(World(catalog).offer(each).price for each in same)
    unit, *names = vocabulary.units.get(product.product, ("packet", product.product))
    said = rng.choice(names)
    return {
        "noun": product.product,
        "said": said,
        "quantity": quantity,
        "units": _plural(unit, vocabulary),
        "some": _amount(quantity, unit, said, vocabulary),
        "then": then,
        "then_some": _amount(then, unit, said, vocabulary),
        "name": product.name,
        "id": product.id,
        "brand": product.brand,
        "size": product.size,
        "diet": label,
        "label": label.replace("_", "-"),
        "price": price,
        "limit": math.ceil(price * _ROOM * 2) / 2,
        "low": max(0.1, math.floor(lowest * _TOO_LOW * 10) / 10),
        "total": f"{price * quantity:.2f}",
        "ids": [each.id for each in same],
        "kin": [each.id for each in kin],
        "prices": [f"{store.price(each):.2f}" for each in kin if store.inventory.get(each.id)],
        "brands": sorted(
            {each.brand for each in same if store.inventory.get(each.id) and _has(each, label)}
        ),
    }


def _has(product: Product, label: str) -> bool:
    return not label or label in product.diet


def _amounts(slot: Slot, rng: Random) -> tuple[int, int]:
    """Return the number of packs and the changed one; they are the same when nothing changes."""
    quantity = rng.randint(*slot.quantity)
    if slot.then is None:
        return quantity, quantity
    return quantity, rng.choice([n for n in range(slot.then[0], slot.then[1] + 1) if n != quantity])


def _amount(number: int, unit: str, said: str, vocabulary: Vocabulary) -> str:
    """Return an amount in words, such as `two loaves of rye bread`."""
    if number == 1:
        return f"a {unit} of {said}"
    words = vocabulary.numbers
    count = words[number - 1] if number <= len(words) else str(number)
    return f"{count} {_plural(unit, vocabulary)} of {said}"


def _plural(unit: str, vocabulary: Vocabulary) -> str:
    return vocabulary.plurals.get(unit, f"{unit}s")
