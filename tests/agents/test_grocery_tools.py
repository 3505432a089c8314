from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.agents.grocery import tools
from cotune.agents.grocery.catalog import load_catalog
from cotune.agents.grocery.diet import Diet
from cotune.agents.grocery.tools import Query, ToolError
from cotune.agents.grocery.world import World

MILK, ORGANIC_MILK, BARISTA, OAT_NATURAL, SORBET = "p-001", "p-003", "p-008", "p-009", "p-363"
ELSEWHERE = "p-005"  # sold by the discounter only


@pytest.fixture
def world() -> World:
    return World.of({"customer": "c-01"})


def ids(candidates: list[dict[str, Any]]) -> list[str]:
    return [candidate["id"] for candidate in candidates]


def found(world: World, **query: Any) -> list[dict[str, Any]]:
    return tools.find_products(world, Query(**query))


# Finding


def test_a_candidate_has_the_selector_s_fields_and_its_noun(world: World) -> None:
    assert found(world, product="oat milk", brand="Haferlust", size="500 ml")[0] == {
        "id": "p-013",
        "name": "Oat drink Natural, small",
        "product": "oat milk",
        "brand": "Haferlust",
        "size": "500 ml",
        "price": 1.19,
        "diet": list(load_catalog().products["p-013"].diet),
        "in_stock": True,
        "store": "Marktplatz",
    }


@pytest.mark.parametrize("noun", ["milk", "Eggs", "tomatoes", "cherry tomato", "courgette"])
def test_plurals_aliases_and_capitals_are_understood(world: World, noun: str) -> None:
    assert found(world, product=noun)


def test_every_product_is_found_by_its_own_noun(world: World) -> None:
    for product in world.catalog.products.values():
        query = {
            "product": product.product,
            "brand": product.brand,
            "size": product.size,
            "diet": product.diet,
        }
        assert product.id in ids(found(world, **query)), product.id


def test_the_noun_itself_comes_before_other_kinds_of_it(world: World) -> None:
    nouns = [world.catalog.products[id_].product for id_ in ids(found(world, product="apple"))]
    assert nouns[:4] == ["apple"] * 4
    assert nouns[4:]
    assert "apple" not in nouns[4:]


def test_the_unit_price_decides_without_another_wish(world: World) -> None:
    found_ids = ids(found(world, product="rice"))
    products = [p for id_ in found_ids if (p := world.catalog.products[id_]).product == "rice"]
    assert len(products) == 6
    prices = [world.offer(product).price / product.measure.amount for product in products]
    assert prices == sorted(prices)


def test_what_is_ruled_out_comes_last_but_is_there(world: World) -> None:
    cases: list[tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
        ({"diet": ["nut_free"]}, lambda c: "nut_free" not in c["diet"]),
        ({"exclude": ["nuts"]}, lambda c: "almonds" in c["name"]),
        ({"exclude": ["Sojana"]}, lambda c: c["brand"] == "Sojana"),
        ({"max_price": 2.30}, lambda c: c["price"] > 2.30),
    ]
    for query, is_ruled_out in cases:
        breaks = [is_ruled_out(c) for c in found(world, product="tofu", **query)]
        assert breaks == sorted(breaks)
        assert any(breaks)


def test_what_is_in_stock_comes_before_what_is_not() -> None:
    world = World.of({"out_of_stock": [MILK, ORGANIC_MILK]})
    stocks = [c["in_stock"] for c in found(world, product="milk")]
    assert stocks == sorted(stocks, reverse=True)
    assert stocks.count(False) == 2


def test_a_store_in_the_query_or_chosen_limits_what_is_found(world: World) -> None:
    stores = {c["store"] for c in found(world, product="bread", store="bakery")}
    assert stores == {"Backstube Ilse"}
    tools.choose_store(world, "Sparkorb")
    assert {c["store"] for c in found(world, product="bread")} == {"Sparkorb"}


def test_at_most_seven_and_nothing_unrelated(world: World) -> None:
    assert len(found(world, product="cheese")) == tools.CANDIDATE_LIMIT == 7
    assert found(world, product="bicycle") == found(world, product="---") == []


def test_an_unknown_store_is_refused_with_the_known_ones(world: World) -> None:
    with pytest.raises(ToolError, match=r"Moon Shop.*Marktplatz \(supermarket\)"):
        found(world, product="milk", store="Moon Shop")


def test_substitutes_can_be_had(world: World) -> None:
    assert ids(tools.substitutes(world, BARISTA)) == ["p-012", "p-009", "p-015"]
    scarce = World.of({"out_of_stock": ["p-012"]})
    assert ids(tools.substitutes(scarce, BARISTA)) == ["p-009", "p-015"]


# The screen


def test_the_screen_shows_what_was_shown_last(world: World) -> None:
    tools.show(world, [MILK, BARISTA])
    assert ids(tools.show(world, [ORGANIC_MILK, MILK, MILK])) == [ORGANIC_MILK, MILK]
    assert ids(tools.shown(world)) == world.snapshot()["shown"] == [ORGANIC_MILK, MILK]
    assert tools.choose(world, MILK)["name"] == "Whole milk 3.5 % fat"
    with pytest.raises(ToolError, match="not on the screen"):
        tools.choose(world, BARISTA)


# The cart


def test_the_cart_s_life(world: World) -> None:
    tools.add_to_cart(world, MILK)
    tools.add_to_cart(world, MILK, 2)
    cart = tools.add_to_cart(world, BARISTA, 1, substitute_for=MILK)
    assert [(line["product_id"], line["quantity"]) for line in cart["lines"]] == [
        (MILK, 3),
        (BARISTA, 1),
    ]
    assert cart["lines"][1]["approved_substitute_for"] == MILK
    assert cart["total"] == 3 * 1.29 + 2.29
    tools.set_quantity(world, MILK, 1)
    assert tools.remove_from_cart(world, BARISTA)["total"] == 1.29
    assert tools.clear_cart(world) == {"lines": [], "total": 0.0}


def test_a_store_changes_prices_and_says_what_it_lacks(world: World) -> None:
    tools.add_to_cart(world, ORGANIC_MILK)
    tools.add_to_cart(world, ELSEWHERE)
    chosen = tools.choose_store(world, "Grünkern")
    assert chosen == {
        "id": "s-organic",
        "name": "Grünkern",
        "type": "organic market",
        "missing": [ELSEWHERE],
    }
    assert tools.view_cart(world)["lines"][0]["price"] == 1.63


def test_an_order_needs_a_store_and_is_final(world: World) -> None:
    with pytest.raises(ToolError, match="empty"):
        tools.check_out(world)
    tools.add_to_cart(world, ORGANIC_MILK)
    with pytest.raises(ToolError, match="No store"):
        tools.check_out(world)
    tools.choose_store(world, "s-organic")
    tools.check_out(world)
    assert world.snapshot()["checked_out"] is True
    with pytest.raises(ToolError, match="placed already"):
        tools.clear_cart(world)


def test_an_order_cannot_hold_what_the_store_lacks(world: World) -> None:
    tools.add_to_cart(world, ELSEWHERE)
    tools.choose_store(world, "s-organic")
    with pytest.raises(ToolError, match="not sold at Grünkern"):
        tools.check_out(world)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda w: tools.add_to_cart(w, "p-999"), "no product with the id 'p-999'"),
        (lambda w: tools.add_to_cart(w, MILK, substitute_for="x"), "'x'"),
        (lambda w: tools.add_to_cart(w, MILK, 0), "from 1 to 99, not 0"),
        (lambda w: tools.add_to_cart(w, MILK, -2), "not -2"),
        (lambda w: tools.add_to_cart(w, MILK, cast(int, 1.5)), "not 1.5"),
        (lambda w: tools.add_to_cart(w, MILK, True), "not True"),
        (lambda w: tools.add_to_cart(w, MILK, 98), "not 100"),
        (lambda w: tools.add_to_cart(w, SORBET), "out of stock in any store"),
        (lambda w: tools.set_quantity(w, ORGANIC_MILK, 1), "not in the cart; it holds p-001"),
        (lambda w: tools.set_quantity(w, MILK, 0), "not 0"),
        (lambda w: tools.remove_from_cart(w, ORGANIC_MILK), "not in the cart"),
        (lambda w: tools.show(w, [MILK, "p-999"]), "'p-999'"),
        (lambda w: tools.choose(w, SORBET), "out of stock"),
        (lambda w: tools.choose_store(w, "market"), "more than one store"),
        (lambda w: tools.substitutes(w, ""), "''"),
        (lambda w: tools.remember(w, "mood", "grim"), "no kind of preference"),
        (lambda w: tools.remember(w, "diet", "keto"), "not a diet we label"),
        (lambda w: tools.remember(w, "store", "Moon Shop"), "no store of ours"),
        (lambda w: tools.remember(w, "other", "  "), "empty"),
        (lambda w: tools.forget(w, "diet", "kosher"), "no diet 'kosher'"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(call: Callable[[World], Any], words: str) -> None:
    world = World.of(
        {
            "customer": "c-01",
            "cart": [{"product_id": MILK, "quantity": 2}],
            "shown": [MILK, SORBET],
            "out_of_stock": [SORBET],
        }
    )
    before = world.snapshot()
    with pytest.raises(ToolError) as caught:
        call(world)
    assert words in str(caught.value)
    assert world.snapshot() == before


# Memory


def test_facts_are_added_replaced_and_forgotten(world: World) -> None:
    tools.remember(world, "diet", "Gluten-free")
    tools.remember(world, "diet", "gluten free")
    tools.remember(world, "store", "sparkorb")
    known = tools.remember(world, "household", "3")
    assert known.count({"kind": "diet", "value": "gluten_free"}) == 1
    assert {"kind": "diet", "value": "vegan"} in known
    assert [fact["value"] for fact in known if fact["kind"] == "store"] == ["Sparkorb"]
    assert [fact["value"] for fact in known if fact["kind"] == "household"] == ["3"]
    tools.forget(world, "diet", "gluten-free")
    tools.forget(world, "brand")
    assert {fact["kind"] for fact in tools.recall(world)} == {
        "diet",
        "other",
        "store",
        "household",
        "budget",
    }
    assert world.snapshot()["preferences"] == tools.recall(world)


def test_past_orders_are_newest_first(world: World) -> None:
    orders = tools.past_orders(world)
    assert [order["date"] for order in orders] == ["2025-09-18", "2025-09-04"]
    assert orders[0]["items"][0] == {"id": BARISTA, "name": "Oat drink Barista", "quantity": 3}
    assert tools.past_orders(World.of({})) == []


# Any sequence of calls

PRODUCT_IDS = st.sampled_from([MILK, ORGANIC_MILK, BARISTA, OAT_NATURAL, SORBET, "p-100", "p-999"])
QUANTITIES = st.integers(-2, 30) | st.sampled_from([99, 100, True])
STORES = st.sampled_from([*load_catalog().stores, "Grünkern", "market", "nowhere"])
CALLS = st.one_of(
    st.tuples(st.just(tools.add_to_cart), PRODUCT_IDS, QUANTITIES, st.none() | PRODUCT_IDS),
    st.tuples(st.just(tools.set_quantity), PRODUCT_IDS, QUANTITIES),
    st.tuples(st.just(tools.remove_from_cart), PRODUCT_IDS),
    st.tuples(st.sampled_from([tools.clear_cart, tools.check_out, tools.recall])),
    st.tuples(st.just(tools.show), st.lists(PRODUCT_IDS, max_size=4)),
    st.tuples(st.just(tools.choose), PRODUCT_IDS),
    st.tuples(st.just(tools.choose_store), STORES),
    st.tuples(st.just(tools.remember), st.just("diet"), st.sampled_from(get_args(Diet))),
    st.tuples(st.just(tools.forget), st.sampled_from(["diet", "store", "brand"])),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(CALLS, max_size=12), st.sampled_from([None, "c-01", "c-02"]))
def test_no_sequence_of_calls_breaks_the_world(
    calls: list[tuple[Any, ...]], customer: str | None
) -> None:
    world = World.of({"customer": customer, "out_of_stock": [OAT_NATURAL]})
    states = [(state := world.snapshot(), json.dumps(state))]
    for tool, *arguments in calls:
        before = world.snapshot()
        try:
            json.dumps(tool(world, *arguments))
        except ToolError:
            assert world.snapshot() == before
        states.append((state := world.snapshot(), json.dumps(state)))
    for state, text in states:
        assert json.dumps(state) == text, "a later call changed an earlier snapshot"
        assert json.loads(text) == state
        check_state(state)


def check_state(state: dict[str, Any]) -> None:
    products = load_catalog().products
    for line in state["cart"]:
        assert type(line["quantity"]) is int
        assert 1 <= line["quantity"] <= 99
        assert line["product_id"] in products
        assert line["product_id"] != OAT_NATURAL
        assert line["approved_substitute_for"] in {None, *products}
    total = sum(line["price"] * line["quantity"] for line in state["cart"])
    assert state["total"] == pytest.approx(total, abs=0.005)
    assert set(state["shown"]) <= set(products)
    assert len(state["shown"]) == len(set(state["shown"]))
