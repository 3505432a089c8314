"""The tools of memory: standing facts about the customer, and what they bought before."""

from __future__ import annotations

from typing import Any, get_args

from .diet import Diet
from .refusals import ToolError, known_store, listed
from .world import Preference, PreferenceKind, World

_SINGLE_VALUED = ("store", "household", "budget")


def remember(world: World, kind: str, value: str) -> list[dict[str, str]]:
    """Remember a standing fact; a store, household or budget takes the place of the old one.

    Returns:
        Everything that is remembered now, as `recall` does.

    Raises:
        ToolError: The kind is unknown, the value is empty, or it is no diet or store there is.
    """
    preference = _preference(world, kind, value)
    kept = [
        known
        for known in world.preferences
        if known.kind != preference.kind or known.kind not in _SINGLE_VALUED
    ]
    world.preferences = list(dict.fromkeys([*kept, preference]))
    return recall(world)


def forget(world: World, kind: str, value: str = "") -> list[dict[str, str]]:
    """Forget a standing fact, or all of a kind when no value is given.

    Returns:
        Everything that is remembered now, as `recall` does.

    Raises:
        ToolError: Nothing of the kind is remembered.
    """
    wanted = _plain(value)
    kept = [
        known
        for known in world.preferences
        if known.kind != kind or wanted not in ("", _plain(known.value))
    ]
    if len(kept) == len(world.preferences):
        raise ToolError(f"Nothing to forget: no {kind} '{value}' is remembered.")
    world.preferences = kept
    return recall(world)


def recall(world: World) -> list[dict[str, str]]:
    """Return every standing fact, as `kind` and `value`."""
    return [preference.model_dump() for preference in world.preferences]


def past_orders(world: World) -> list[dict[str, Any]]:
    """Return the customer's past orders, newest first: `date`, `store` and `items`."""
    orders = world.customer.orders if world.customer else ()
    products = world.catalog.products
    return [
        {
            "date": order.date.isoformat(),
            "store": world.catalog.stores[order.store].name,
            "items": [
                {"id": id_, "name": products[id_].name, "quantity": quantity}
                for id_, quantity in order.items.items()
            ],
        }
        for order in sorted(orders, key=lambda order: order.date, reverse=True)
    ]


def _preference(world: World, kind: str, value: str) -> Preference:
    value = value.strip()
    if not value:
        raise ToolError("There is nothing to remember: the value is empty.")
    for known in get_args(PreferenceKind):
        if kind == known:
            return Preference(kind=known, value=_settled(world, kind, value))
    known_kinds = listed(get_args(PreferenceKind))
    raise ToolError(f"'{kind}' is no kind of preference; there are {known_kinds}.")


def _settled(world: World, kind: str, value: str) -> str:
    """Return the value in the shop's own words where it has them."""
    if kind == "store":
        return known_store(world, value).name
    if kind == "diet":
        for diet in get_args(Diet):
            if _plain(value) == _plain(diet):
                return diet
        raise ToolError(f"'{value}' is not a diet we label; there are {listed(get_args(Diet))}.")
    return value


def _plain(text: str) -> str:
    """Return the text without what people write this way and that: `Gluten-free`, `gluten_free`."""
    return text.strip().casefold().replace("-", " ").replace("_", " ")
