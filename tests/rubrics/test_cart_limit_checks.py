"""Budget, terms, double lines, and end states that are as good as the expected one."""

from __future__ import annotations

import pytest

from cotune.rubrics.checks import grocery
from cotune.rubrics.checks.limits import budget, constraints, duplicate_lines
from cotune.rubrics.verdict import Status

from .conversations import conversation, exchange, line, scenario, world

NOT_APPLICABLE, INCONCLUSIVE = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
VEGAN = {"field": "diet", "operator": "includes", "value": "vegan", "say": "vegan"}
CHEAP = {"field": "price", "operator": "at_most", "value": 2.5, "say": "under 2.50"}


def test_the_cart_may_cost_as_much_as_the_budget_and_no_more():
    cart = [line("milk", 2), line("egg", 1, price=1.5)]
    shop = conversation(exchange(cart=cart[:1]), exchange(cart=cart), exchange(cart=cart))

    assert budget(shop, scenario(budget=5.5)).value == 1
    over = budget(shop, scenario(budget=5.0))
    assert (over.value, over.turn) == (0, 1)
    assert over.rationale == "The cart costs 5.50, the budget is 5.00."


def test_the_shops_own_total_counts():
    shop = conversation(exchange(cart=[line("milk", 2)], total=3.0))

    assert budget(shop, scenario(budget=3.0)).value == 1


def test_a_budget_is_not_judged_where_nothing_is_bought_or_known():
    bought = conversation(exchange(cart=[line("milk")]))

    assert budget(bought, scenario()).status is NOT_APPLICABLE
    assert budget(conversation(exchange()), scenario(budget=1)).status is NOT_APPLICABLE
    assert budget(conversation(exchange(cart=None)), scenario(budget=1)).status is INCONCLUSIVE


def test_every_line_meets_the_terms_that_hold_in_the_end():
    tofu, ham = line("tofu", diet=["vegan"]), line("ham")
    shop = conversation(exchange(cart=[tofu]), exchange(cart=[tofu, ham]))
    later = {"turn": 2, "say": "We are vegan now.", "constraints": [VEGAN]}

    assert constraints(shop, scenario()).status is NOT_APPLICABLE
    for wish in (scenario(constraints=[VEGAN]), scenario(revisions=[later])):
        broken = constraints(shop, wish)
        assert (broken.value, broken.turn) == (0, 1)
        assert broken.rationale == "Ham is not vegan."
    assert constraints(conversation(exchange(cart=[tofu])), scenario(constraints=[VEGAN])).value


def test_a_term_of_one_item_is_no_term_of_another():
    wish = scenario(
        errands=[
            {"id": "m", "kind": "item", "item": "milk", "must": [CHEAP]},
            {"id": "h", "kind": "item", "item": "ham"},
        ]
    )
    dear = {"price": 9.0}

    assert constraints(conversation(exchange(cart=[line("milk", **dear)])), wish).value == 0
    ham = constraints(conversation(exchange(cart=[line("ham", **dear)])), wish)
    assert ham.status is NOT_APPLICABLE


def test_a_substitute_must_meet_the_terms_of_what_it_replaces():
    wish = scenario(
        errands=[{"id": "m", "kind": "item", "item": "milk", "must": [CHEAP], "substitute": True}]
    )
    oat = line("oat drink", price=9.0, replaced_product="milk", approved_substitute_for="p-1")

    assert constraints(conversation(exchange(cart=[oat])), wish).value == 0


def test_terms_on_what_the_cart_does_not_show_are_inconclusive():
    bio = {"field": "label", "operator": "is", "value": "bio", "say": "organic"}
    shop = conversation(exchange(cart=[line("milk")]))

    unknown = constraints(shop, scenario(constraints=[bio]))
    assert unknown.status is INCONCLUSIVE
    assert "label" in unknown.rationale
    assert constraints(shop, scenario(constraints=[bio, VEGAN])).value == 0


@pytest.mark.parametrize(
    ("cart", "result"),
    [
        ([line("milk"), line("egg")], 1),
        ([line("milk"), line("milk", size="2 l")], 1),
        ([line("milk"), line("Milk", product_id="p-other")], 0),
        ([], NOT_APPLICABLE),
        (None, INCONCLUSIVE),
    ],
)
def test_a_product_has_one_line(cart, result):
    found = duplicate_lines(conversation(exchange(cart=cart)), scenario())

    assert (found.status if found.value is None else found.value) == result


EITHER = scenario(
    expected={"cart": [{"product": "oat milk"}], "store": "s-organic"},
    acceptable=[{"cart": [{"product": "soy milk"}], "store": "s-market"}],
)


@pytest.mark.parametrize(
    ("product", "store", "cart", "chosen"),
    [
        ("oat milk", "s-organic", 1, 1),
        ("soy milk", "s-market", 1, 1),
        ("cow milk", "s-market", 0, 1),
        ("oat milk", "s-market", 1, 0),  # not the cart of one and the store of the other
    ],
)
def test_an_end_state_that_is_as_good_counts_as_a_whole(product, store, cart, chosen):
    shop = conversation(exchange(cart=[line(product)], store=store))

    assert grocery.cart_success(shop, EITHER).value == cart
    assert grocery.store_selection(shop, EITHER).value == chosen


def test_a_misfit_says_in_which_turn_it_came():
    extra = [line("egg"), line("cake")]
    shop = conversation(exchange(cart=[line("egg")]), exchange(cart=extra), exchange(cart=extra))
    wish = scenario(expected={"cart": [{"product": "egg"}]})

    assert grocery.cart_no_extras(shop, wish).turn == 1
    assert grocery.cart_complete(conversation(exchange()), wish).turn is None


def test_the_real_worlds_snapshot_shows_all_that_is_needed():
    entry = {"product_id": "p-019", "quantity": 2}
    state = world(store="s-market", cart=[entry])
    shop = conversation(exchange(), **state)
    price = state["cart"][0]["price"]
    wish = scenario(constraints=[CHEAP | {"value": price}], budget=2 * price)
    there = conversation(**state)

    for check in (budget, constraints, duplicate_lines):
        assert check(there, wish).value == 1, check
    assert budget(there, scenario(budget=price)).value == 0
    assert budget(shop, wish).status is NOT_APPLICABLE
