from __future__ import annotations

from typing import Any

import pytest

from cotune.agents.assistant import Reply
from cotune.agents.grocery.world import World
from cotune.rubrics.checks import grocery
from cotune.rubrics.verdict import Status
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

NOT_APPLICABLE, INCONCLUSIVE = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
CART_CHECKS = [
    grocery.cart_complete,
    grocery.cart_quantities,
    grocery.cart_no_extras,
    grocery.cart_success,
]


def line(product: str, quantity: float = 1, **other: Any) -> dict[str, Any]:
    return {
        "product_id": f"p-{product}",
        "name": product.title(),
        "product": product,
        "brand": "Hof",
        "quantity": quantity,
        "price": 2.0,
        "diet": [],
        "approved_substitute_for": None,
        **other,
    }


REPLACES_OAT_MILK = {"approved_substitute_for": "p-7", "replaced_product": "oat milk"}


def ended(cart: list[dict[str, Any]] | None = None, **state: Any) -> Trajectory:
    final = {"customer": {}, "store": None, "shown": [], "preferences": [], **state}
    if cart is not None:
        final["cart"] = cart
    turn = Turn("Thanks, that is all.", Reply("Bye."), final)
    return Trajectory("s-1", (turn,), final, StopReason.SATISFIED)


def wanting(**expected: Any) -> Scenario:
    return Scenario(id="s-1", family="f", goal="Shop.", expected=expected)


MILK_AND_EGGS = wanting(
    cart=[{"product": "oat milk", "quantity": 2}, {"product": "egg", "quantity": 1}]
)


@pytest.mark.parametrize(
    ("cart", "complete", "quantities", "no_extras", "success"),
    [
        pytest.param([line("oat milk", 2), line("egg")], 1, 1, 1, 1, id="as wished"),
        pytest.param([line("egg"), line("oat milk", 2)], 1, 1, 1, 1, id="order"),
        pytest.param([line("oat milk", 2)], 0, 1, 1, 0, id="missing"),
        pytest.param([line("oat milk", 1), line("egg")], 1, 0, 1, 0, id="quantity"),
        pytest.param(
            [line("oat milk", 2), line("egg"), line("cake")], 1, 1, 0, 0, id="unrequested"
        ),
        pytest.param(
            [line("oat milk", 2), line("egg"), line("egg", 6)], 1, 1, 0, 0, id="twice"
        ),
        pytest.param([line("cow milk", 2), line("egg")], 0, 1, 0, 0, id="unapproved substitute"),
        pytest.param(
            [line("cow milk", 2, **REPLACES_OAT_MILK), line("egg")],
            1, 1, 1, 1, id="approved substitute",
        ),
        pytest.param([], 0, NOT_APPLICABLE, 1, 0, id="empty"),
    ],
)  # fmt: skip
def test_the_cart_is_compared_with_the_wishes(cart, complete, quantities, no_extras, success):
    findings = [check(ended(cart), MILK_AND_EGGS) for check in CART_CHECKS]

    found = [finding.status if finding.value is None else finding.value for finding in findings]
    assert found == [complete, quantities, no_extras, success]


def test_a_substitute_of_another_noun_that_the_customer_approved_answers_the_wish():
    naan, flatbread = "p-392", "p-080"
    scenario = wanting(cart=[{"product": "naan", "quantity": 2}])

    def final(**approved: str) -> Trajectory:
        entry = {"product_id": flatbread, "quantity": 2, **approved}
        return ended(**World.of({"store": None, "cart": [entry]}).snapshot())

    agreed, unasked = final(approved_substitute_for=naan), final()

    assert agreed.final_state["cart"][0]["product"] == "flatbread"
    assert [check(agreed, scenario).value for check in CART_CHECKS] == [1, 1, 1, 1]
    assert grocery.cart_complete(unasked, scenario).value == 0
    assert grocery.cart_no_extras(unasked, scenario).value == 0


@pytest.mark.parametrize(
    ("wish", "found", "words"),
    [
        ({"brand": "Alpro"}, {"brand": "Hof"}, "brand Hof instead of Alpro"),
        ({"diet": ["vegan"]}, {"diet": ["organic"]}, "not vegan"),
        ({"max_price": 1.5}, {"price": 1.99}, "1.99 is over the limit of 1.50"),
    ],
)
def test_an_item_that_breaks_its_terms_is_not_complete(wish, found, words):
    scenario = wanting(cart=[{"product": "yoghurt", **wish}])

    broken = grocery.cart_complete(ended([line("yoghurt", **found)]), scenario)

    assert broken.value == 0
    assert words in broken.rationale
    assert broken.evidence == (f"cart: {_shown('yoghurt', **found)}",)


def _shown(product: str, brand: str = "Hof", price: float = 2.0, **_: Any) -> str:
    return f"1 x {brand} {product.title()} (p-{product}, {price:.2f})"


def test_two_wishes_for_one_product_each_find_their_line():
    scenario = wanting(
        cart=[{"product": "milk", "quantity": 2}, {"product": "milk", "diet": ["vegan"]}]
    )
    cart = [line("milk", 1, diet=["vegan"]), line("milk", 2)]

    assert [check(ended(cart), scenario).value for check in CART_CHECKS] == [1, 1, 1, 1]
    assert grocery.cart_complete(ended(cart[:1]), scenario).value == 0


def test_a_cart_that_should_be_empty_must_be_empty():
    empty = wanting(cart=[])

    assert grocery.cart_complete(ended([]), empty).status is NOT_APPLICABLE
    assert grocery.cart_success(ended([]), empty).value == 1
    assert grocery.cart_success(ended([line("egg")]), empty).value == 0


@pytest.mark.parametrize("check", CART_CHECKS)
def test_a_cart_is_not_judged_without_wishes_and_not_guessed_without_a_snapshot(check):
    assert check(ended([line("egg")]), wanting()).status is NOT_APPLICABLE
    assert check(ended(None), MILK_AND_EGGS).status is INCONCLUSIVE


def test_a_conversation_without_turns_ends_where_it_began():
    trajectory = Trajectory("s-1", (), {"cart": [line("egg")]}, StopReason.GAVE_UP)

    assert grocery.cart_no_extras(trajectory, MILK_AND_EGGS).value == 1
    assert grocery.cart_complete(trajectory, MILK_AND_EGGS).value == 0


@pytest.mark.parametrize(
    ("check", "field", "right", "wrong"),
    [
        (grocery.store_selection, "store", "s-market", "s-bakery"),
        (grocery.store_type_fit, "store_type", "supermarket", "bakery"),
    ],
)
def test_the_store_is_compared_with_the_expected_one(check, field, right, wrong):
    scenario = wanting(**{field: right})
    unknown = Trajectory("s-1", (), {}, StopReason.SATISFIED)

    assert check(ended([], **{field: right}), scenario).value == 1
    assert check(ended([], **{field: wrong}), scenario).value == 0
    assert check(ended([], **{field: None}), scenario).value == 0
    assert check(ended([], **{field: wrong}), wanting()).status is NOT_APPLICABLE
    assert check(unknown, scenario).status is INCONCLUSIVE


def test_every_line_must_respect_the_diet():
    scenario = wanting(diet=["vegan"])
    finding = grocery.dietary_preferences(
        ended([line("tofu", diet=["vegan"]), line("ham", diet=["gluten_free"])]), scenario
    )

    assert finding.value == 0
    assert finding.rationale == "Ham is not vegan."
    assert grocery.dietary_preferences(ended([line("tofu", diet=["vegan"])]), scenario).value == 1


def test_a_wish_can_say_that_diet_does_not_matter_for_it():
    scenario = wanting(
        diet=["vegan"], cart=[{"product": "dish soap", "diet": []}, {"product": "tofu"}]
    )

    soap_only = grocery.dietary_preferences(ended([line("dish soap")]), scenario)
    with_tofu = grocery.dietary_preferences(ended([line("dish soap"), line("tofu")]), scenario)

    assert soap_only.status is NOT_APPLICABLE
    assert with_tofu.value == 0


@pytest.mark.parametrize(
    ("cart", "result"),
    [
        ([line("coffee", brand="Kaffa")], 1),
        ([line("coffee", brand="Hof")], 0),
        ([line("coffee", brand="Hof", approved_substitute_for="p-9")], 1),
        ([line("tea", brand="Hof")], NOT_APPLICABLE),
        (None, INCONCLUSIVE),
    ],
)
def test_a_preferred_brand_is_taken_unless_the_customer_agreed_to_another(cart, result):
    finding = grocery.preferred_brands(ended(cart), wanting(brands={"coffee": "Kaffa"}))

    assert (finding.status if finding.value is None else finding.value) == result
