"""Checks that a grocery scenario can end as it says: achievable, or really impossible."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...agents.grocery.catalog import Store, load_catalog
from ..scenario import ChangeErrand, Outcome, QuestionErrand, Scenario
from .basket import Basket, basket, store_at_start, stores_wanted
from .expected import expected_end

_ROOM = 1.1  # prices are taken to be this much higher: a limit leaves room for another choice
_HOPELESS = 0.9  # and this much lower before something counts as impossible


def baskets(scenario: Scenario) -> list[Basket]:
    """Return the whole baskets that serve a scenario, the cheapest first; none when there is none.

    The store is the one that the errands name, else the one chosen already, else any.
    """
    hopeless = never_had(scenario)
    found = [basket(scenario, store, _ROOM) for store in _stores(scenario)]
    whole = [each for each in found if each.missing == hopeless and _affordable(scenario, each)]
    return sorted(whole, key=lambda each: (each.total, each.store.id))


def never_had(scenario: Scenario) -> frozenset[str]:
    """Return the ids of the items that no store has that the customer could turn to."""
    everywhere = [basket(scenario, store, _HOPELESS) for store in stores_wanted(scenario)]
    return frozenset.intersection(*(each.missing for each in everywhere))


def problems(scenario: Scenario) -> Iterator[str]:
    """Say why a scenario cannot end as it says; nothing when it can."""
    hopeless = never_had(scenario)
    found = baskets(scenario)
    if not found:
        yield "no store has everything that is to be had, within the limits and the budget"
    if bool(hopeless) != (scenario.outcome is Outcome.IMPOSSIBLE):
        yield f"the outcome is {scenario.outcome}, and never to be had: {sorted(hopeless) or '-'}"
    derived = expected_end(scenario, hopeless)
    if any(scenario.expected.get(name) != value for name, value in derived.items()):
        yield f"the expected end state should have {json.dumps(derived, ensure_ascii=False)}"
    refusals = [each for each in scenario.errands if isinstance(each, QuestionErrand)]
    refused = any(question.expects == "refusal" for question in refusals)
    if refused != (scenario.outcome is Outcome.REFUSED):
        yield f"the outcome is {scenario.outcome}, and something is to be refused: {refused}"
    if _checks_out(scenario) and len(_stores(scenario)) != 1:
        yield "an order is placed, and no store is chosen"
    yield from _other_products(found[:1])
    yield from _unknown_said(scenario)


def _stores(scenario: Scenario) -> list[Store]:
    wanted = stores_wanted(scenario)
    named = len(wanted) < len(load_catalog().stores)
    return wanted if named else store_at_start(scenario) or wanted


def _affordable(scenario: Scenario, one: Basket) -> bool:
    return scenario.budget is None or one.total * _ROOM <= scenario.budget


def _checks_out(scenario: Scenario) -> bool:
    return any(
        isinstance(errand, ChangeErrand) and errand.reached.get("checked_out")
        for errand in scenario.final.errands
    )


def _other_products(found: list[Basket]) -> Iterator[str]:
    """Say which items are served by a product of another noun without an approval."""
    products = load_catalog().products
    for pick in (pick for each in found for pick in each.picks):
        noun = products[pick.product_id].product
        if pick.replaces is None and noun != pick.errand.item:
            yield f"'{pick.errand.item}' is not clear: {noun} would do"


def _unknown_said(scenario: Scenario) -> Iterator[str]:
    """Say which facts the customer does not know and the scenario says all the same."""
    said = scenario.model_dump_json(exclude={"unknown"}).casefold()
    for fact in scenario.unknown:
        if fact.value.casefold() in said:
            yield f"the customer does not know '{fact.name}', and '{fact.value}' is said"
