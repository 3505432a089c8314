from __future__ import annotations

import json
from typing import Any

import pytest

from cotune.agents.errors import UsageError
from cotune.agents.grocery.catalog import load_catalog
from cotune.agents.grocery.world import World

OAT_BARISTA, OAT_GLUTEN_FREE, ORGANIC_MILK = "p-008", "p-012", "p-003"


def test_an_empty_scenario_is_a_stranger_with_an_empty_cart() -> None:
    assert World.of({}).snapshot() == {
        "customer": None,
        "store": None,
        "store_type": None,
        "cart": [],
        "total": 0.0,
        "checked_out": False,
        "shown": [],
        "preferences": [],
    }


def test_a_scenario_sets_everything() -> None:
    world = World.of(
        {
            "customer": "c-03",
            "store": "s-organic",
            "cart": [
                {
                    "product_id": OAT_GLUTEN_FREE,
                    "quantity": 2,
                    "approved_substitute_for": OAT_BARISTA,
                }
            ],
            "shown": [ORGANIC_MILK],
            "preferences": [{"kind": "other", "value": "rings twice"}],
        }
    )
    state = world.snapshot()
    line = state["cart"][0]
    assert (state["store"], state["store_type"]) == ("s-organic", "organic market")
    assert state["shown"] == [ORGANIC_MILK]
    assert line == {
        "product_id": OAT_GLUTEN_FREE,
        "name": "Gluten-free oat drink",
        "product": "oat milk",
        "brand": "Freikorn",
        "size": "1 l",
        "quantity": 2,
        "price": 2.61,
        "diet": list(load_catalog().products[OAT_GLUTEN_FREE].diet),
        "approved_substitute_for": OAT_BARISTA,
        "replaced_product": "oat milk",
    }
    assert state["total"] == 5.22
    assert {"kind": "other", "value": "rings twice"} in state["preferences"]


def test_a_customer_brings_their_profile_and_its_preferences() -> None:
    state = World.of({"customer": "c-01"}).snapshot()
    assert state["customer"]["diet"] == ["vegan"]
    assert "orders" not in state["customer"]
    assert state["store"] is None, "a preferred store is not a chosen one"
    for kind, value in [("diet", "vegan"), ("store", "Grünkern"), ("other", "no palm oil")]:
        assert {"kind": kind, "value": value} in state["preferences"]


def test_the_offer_is_the_chosen_store_s_else_the_cheapest_in_stock() -> None:
    catalog = load_catalog()
    for product in catalog.products.values():
        best = World.of({}).offer(product)
        assert best.store is not None
        for store in catalog.stores.values():
            stock = store.inventory.get(product.id)
            if stock and best.stock:
                assert best.price <= store.price(product)
            here = World.of({"store": store.id}).offer(product)
            assert here.price == store.price(product)
            assert here.stock == (stock or 0)
            assert (here.store is None) == (stock is None)


def test_what_is_sold_out_today_is_sold_out_in_every_store() -> None:
    world = World.of({"out_of_stock": [ORGANIC_MILK]})
    product = world.catalog.products[ORGANIC_MILK]
    assert world.offer(product).stock == world.stock(product) == 0
    assert World.of({}).stock(product) > 0


def test_a_snapshot_is_json_and_independent_of_the_world() -> None:
    world = World.of({"customer": "c-01", "cart": [{"product_id": OAT_BARISTA}]})
    state = world.snapshot()
    before = json.dumps(state)
    world.cart.clear()
    world.preferences.clear()
    world.shown.append(ORGANIC_MILK)
    assert json.dumps(state) == before
    state["cart"].append("junk")
    state["customer"]["diet"].append("junk")
    assert World.of({"customer": "c-01"}).snapshot()["customer"]["diet"] == ["vegan"]


def test_two_worlds_share_nothing() -> None:
    first, second = World.of({"customer": "c-01"}), World.of({"customer": "c-01"})
    first.preferences.clear()
    first.shown.append(ORGANIC_MILK)
    assert second.preferences
    assert second.shown == []


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"customer": "c-99"}, "customer: 'c-99'"),
        ({"store": "s-moon"}, "store: 's-moon'"),
        ({"cart": [{"product_id": "p-999"}]}, "cart: 'p-999'"),
        ({"cart": [{"product_id": "p-001", "quantity": 0}]}, "cart.0.quantity"),
        ({"cart": [{"product_id": "p-001", "quantity": 1.5}]}, "cart.0.quantity"),
        ({"cart": [{"product_id": "p-001"}, {"product_id": "p-001"}]}, "given twice"),
        (
            {"cart": [{"product_id": "p-001", "approved_substitute_for": "p-0"}]},
            "cart.approved_substitute_for: 'p-0'",
        ),
        ({"out_of_stock": ["p-000"]}, "out_of_stock: 'p-000'"),
        ({"shown": ["nothing"]}, "shown: 'nothing'"),
        ({"preferences": [{"kind": "mood", "value": "grim"}]}, "preferences.0.kind"),
        ({"basket": []}, "basket"),
    ],
)
def test_a_scenario_that_makes_no_sense_is_refused(state: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match="initial_state") as caught:
        World.of(state)
    assert words in str(caught.value)
