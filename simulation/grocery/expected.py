"""The end state that a grocery scenario should reach, in the terms of the grocery checks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..scenario import ItemErrand, Scenario
from ..term import Term
from .basket import kept_lines, wanted_items


def expected_end(scenario: Scenario, missing: Collection[str]) -> dict[str, Any]:
    """Return what should be in the cart in the end, and what every line of it must be.

    Args:
        scenario: The scenario; its own `expected` does not matter.
        missing: Ids of errands for which nothing is to be had.

    Returns:
        `cart`, a list of wishes, and `diet` when the scenario has constraints of diet.
    """
    general = _diet(scenario.final.constraints)
    wishes = [{"product": kept.product, "quantity": count} for kept, count in kept_lines(scenario)]
    wishes += [
        _wish(errand, general) for errand in wanted_items(scenario) if errand.id not in missing
    ]
    return {"cart": wishes, **({"diet": general} if general else {})}


def _wish(errand: ItemErrand, general: list[str]) -> dict[str, Any]:
    wish: dict[str, Any] = {"product": errand.item, "quantity": errand.quantity}
    own = _diet(errand.must)
    if own:
        wish["diet"] = list(dict.fromkeys([*general, *own]))
    return {**wish, **_brand_and_price(errand.must)}


def _brand_and_price(terms: Iterable[Term]) -> Mapping[str, Any]:
    said = {(term.field, term.operator): term.value for term in terms}
    names = {("brand", "is"): "brand", ("price", "at_most"): "max_price"}
    return {name: said[term] for term, name in names.items() if term in said}


def _diet(terms: Iterable[Term]) -> list[str]:
    return [
        str(term.value) for term in terms if (term.field, term.operator) == ("diet", "includes")
    ]
