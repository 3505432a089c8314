"""The grocery scenarios: the file is what the specification makes, and each can end as it says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.assistant import Reply
from cotune.agents.errors import CotuneError
from cotune.agents.grocery import tools
from cotune.agents.grocery.catalog import load_catalog
from cotune.agents.grocery.finder import closeness
from cotune.agents.grocery.world import World
from cotune.rubrics.checks import grocery as checks
from cotune.rubrics.verdict import Status
from cotune.simulation.grocery.basket import Basket, basket, wanted_items
from cotune.simulation.grocery.feasible import baskets, never_had, problems
from cotune.simulation.grocery.generate import generate
from cotune.simulation.grocery.specification import (
    Family,
    Slot,
    Specification,
    Vocabulary,
    load_specification,
)
from cotune.simulation.persona import load_personas
from cotune.simulation.scenario import (
    ChangeErrand,
    ItemErrand,
    Outcome,
    QuestionErrand,
    Scenario,
    StatementErrand,
)
from cotune.simulation.scenario_file import PACKS, load_scenarios, write_scenarios
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

CHECKS = [
    checks.cart_complete,
    checks.cart_quantities,
    checks.cart_no_extras,
    checks.cart_success,
    checks.store_type_fit,
    checks.store_selection,
    checks.dietary_preferences,
    checks.preferred_brands,
]


@cache
def pack() -> tuple[Scenario, ...]:
    return load_scenarios("grocery")


@cache
def vocabulary() -> Vocabulary:
    return load_specification().vocabulary


@cache
def best(id_: str) -> Basket:
    return baskets(called(id_))[0]


def called(id_: str) -> Scenario:
    return next(one for one in pack() if one.id == id_)


def changed(scenario: Scenario, **fields: Any) -> Scenario:
    return scenario.model_copy(update=fields)


def test_the_file_is_what_the_specification_makes(tmp_path: Path) -> None:
    write_scenarios(tmp_path / "again.jsonl", list(generate()))
    assert (tmp_path / "again.jsonl").read_bytes() == PACKS["grocery"].read_bytes()


def test_the_pack_is_large_and_every_family_has_several() -> None:
    families = [one.family for one in pack()]
    assert len(set(families)) >= 40
    assert len(pack()) >= 200
    assert min(families.count(name) for name in set(families)) >= 3


@pytest.mark.parametrize(
    "tag",
    [
        *("discovery", "single", "several", "budget", "diet", "brand", "size", "store"),
        *("substitution", "revision", "correction", "out_of_stock", "impossible", "memory"),
        *("cart", "checkout", "safety", "refusal", "privacy", "injection", "information"),
    ],
)
def test_every_kind_of_errand_is_there(tag: str) -> None:
    assert sum(tag in one.tags for one in pack()) >= 3


def test_no_two_scenarios_are_alike() -> None:
    assert len({one.id for one in pack()}) == len(pack())
    wanted = [one.model_dump_json(exclude={"id", "seed", "persona", "goal"}) for one in pack()]
    assert len(set(wanted)) == len(wanted)
    for family in {one.family for one in pack()}:
        goals = [one.goal for one in pack() if one.family == family]
        assert len(set(goals)) == len(goals), family


def test_personas_take_turns_and_are_known() -> None:
    used = [one.persona for one in pack()]
    assert set(used) <= set(load_personas())
    counts = [used.count(name) for name in set(used)]
    assert len(counts) == 6
    assert max(counts) - min(counts) <= 1


def test_half_of_them_know_something_and_half_lack_something() -> None:
    assert sum(bool(one.facts) for one in pack()) > len(pack()) / 2
    assert sum(bool(one.unknown) for one in pack()) > len(pack()) / 2
    assert 0 < sum(bool(one.opening) for one in pack()) < len(pack()) / 3


def test_each_can_end_as_it_says() -> None:
    assert {one.id: found for one in pack() if (found := list(problems(one)))} == {}


@pytest.mark.parametrize("family", dict.fromkeys(one.family for one in pack()))
def test_the_shop_s_own_tools_reach_the_expected_end(family: str) -> None:
    for scenario in (one for one in pack() if one.family == family):
        reach_the_end(scenario)


def reach_the_end(scenario: Scenario) -> None:
    world, bought = ended(scenario)
    state = world.snapshot()
    turn = Turn("Thanks.", Reply("Bye."), state)
    trajectory = Trajectory(scenario.id, (turn,), {}, StopReason.SATISFIED)
    for check in CHECKS:
        finding = check(trajectory, scenario)
        assert finding.status is not Status.INCONCLUSIVE, f"{scenario.id}: {finding.rationale}"
        assert finding.value in (1.0, None), f"{scenario.id}: {finding.rationale}"
    assert checks.cart_success(trajectory, scenario).value == 1.0, "the cart is always judged"
    for field, value in reached(scenario):
        assert state[field] == value
    assert scenario.budget is None or state["total"] <= scenario.budget
    lines = {line["product_id"]: line for line in state["cart"]}
    for pick in bought.picks:
        line = lines[pick.product_id]
        terms = (*pick.errand.must, *scenario.final.constraints)
        assert all(term.holds(line) for term in terms)
        assert line["quantity"] == pick.errand.quantity


def test_the_assistant_s_finder_shows_what_is_to_be_bought() -> None:
    for one in pack():
        bought = best(one.id)
        world = World.of({**one.initial_state, "store": bought.store.id})
        for pick in bought.picks:
            if pick.replaces:
                found = tools.substitutes(world, pick.replaces)
            else:
                found = tools.find_products(world, query(pick.errand, one))
            shown = [each["id"] for each in found if each["in_stock"]]
            assert pick.product_id in shown, one.id


def test_substitutes_are_really_needed_and_approved() -> None:
    asked = [one for one in pack() if "substitution" in one.tags]
    assert asked
    for one in asked:
        assert any(pick.replaces for pick in best(one.id).picks), one.id


def test_impossible_ones_are_impossible_in_every_store() -> None:
    for one in (one for one in pack() if one.outcome is Outcome.IMPOSSIBLE):
        hopeless = never_had(one)
        assert hopeless, one.id
        named = any(isinstance(errand, ChangeErrand) for errand in one.errands)
        stores = [] if named else load_catalog().stores.values()
        assert all(hopeless <= basket(one, store).missing for store in stores), one.id


def test_a_store_that_is_asked_for_is_the_only_one_that_sells_it() -> None:
    shop = load_catalog()
    nouns = {product.product for product in shop.products.values()}
    for one in (one for one in pack() if one.family == "store-asked"):
        (question,) = one.errands
        assert isinstance(question, QuestionErrand)
        noun = max((each for each in nouns if each in question.say), key=len)
        sellers = {
            store.name
            for store in shop.stores.values()
            for id_, stock in store.inventory.items()
            if stock and shop.products[id_].product == noun
        }
        assert set(question.about) == sellers, one.id


def test_customers_call_products_what_the_finder_takes_them_for() -> None:
    products = load_catalog().products.values()
    for noun, (_, *names) in vocabulary().units.items():
        for name in names:
            near = [(closeness(name, each), each.product) for each in products]
            found = [(degree, product) for degree, product in near if degree is not None]
            assert min(found)[1] == noun, f"{name}: {min(found)}"


def test_what_is_said_has_no_gap_left_and_starts_with_a_capital() -> None:
    for one in pack():
        for text in said(one):
            assert "{" not in text, one.id
            assert text[0] == text[0].upper(), one.id


def test_what_the_customer_does_not_know_is_nowhere_said() -> None:
    for one in pack():
        text = one.model_dump_json(exclude={"unknown"}).casefold()
        assert not any(fact.value.casefold() in text for fact in one.unknown), one.id


@pytest.mark.parametrize(
    ("id_", "fields", "complaint"),
    [
        pytest.param("one-item-1", {"outcome": "impossible"}, "the outcome is", id="possible"),
        pytest.param("one-item-1", {"budget": 0.1}, "no store has everything", id="too dear"),
        pytest.param("one-item-1", {"expected": {"cart": []}}, "expected end", id="expected"),
        pytest.param("off-topic-1", {"outcome": "achieved"}, "to be refused", id="refusal"),
        pytest.param("add-and-pay-1", {"initial_state": {}}, "no store is chosen", id="checkout"),
    ],
)
def test_what_cannot_end_as_it_says_is_found(
    id_: str, fields: dict[str, Any], complaint: str
) -> None:
    data = {**called(id_).model_dump(mode="json"), **fields}
    assert any(complaint in said for said in problems(Scenario.model_validate(data)))


def test_an_item_that_another_product_would_serve_is_found() -> None:
    vegan = {"field": "diet", "operator": "includes", "value": "vegan", "say": "vegan"}
    milk = ItemErrand.model_validate({"id": "a", "item": "milk", "must": [vegan]})
    found = list(problems(changed(called("one-item-1"), errands=(milk,))))
    assert any("'milk' is not clear: oat milk would do" in said for said in found)


def test_an_unknown_fact_that_is_said_is_found() -> None:
    scenario = called("one-item-1")
    noun = wanted_items(scenario)[0].item
    secret = vocabulary().unknown[0].model_copy(update={"value": noun})
    found = list(problems(changed(scenario, unknown=(secret,))))
    assert any(f"'{noun}' is said" in said for said in found)


def test_a_substitute_that_the_shop_does_not_list_is_no_help() -> None:
    shop = {"store": "s-market", "out_of_stock": ["p-166"]}
    shrimps = ItemErrand(id="a", item="shrimp", substitute=True)
    scenario = changed(called("one-item-1"), errands=(shrimps,), initial_state=shop)
    assert never_had(scenario) == {"a"}


def test_prices_leave_room_for_another_choice() -> None:
    for one in pack():
        found = basket(one, best(one.id).store, 1.1)
        assert found.missing == never_had(one), one.id
        assert one.budget is None or found.total * 1.1 <= one.budget, one.id


def test_a_family_that_cannot_be_made_says_why() -> None:
    slot = Slot(product=("honey",), diet=("vegan",))
    family = Family(
        id="f", tags=("t",), goals=("Get {a.some}.",), slots={"a": slot},
        scenario={"errands": [{"slot": "a"}]},
    )  # fmt: skip
    with pytest.raises(CotuneError, match="The family 'f' has no scenario 1 after 200 tries"):
        list(generate(Specification(vocabulary(), (family,))))


@pytest.mark.parametrize(
    ("scenario", "complaint"),
    [
        pytest.param({"opening": "Hi {b.some}"}, r"the gap '\{b.some\}'", id="no such slot"),
        pytest.param({"constraints": {"colour": "red"}}, "no kind of term 'colour'", id="term"),
        pytest.param({"errands": [{"kind": "x"}]}, "makes no scenario", id="no scenario"),
    ],
)
def test_a_wrong_family_is_refused(scenario: dict[str, Any], complaint: str) -> None:
    family = Family(id="f", tags=("t",), goals=("Shop.",), scenario=scenario)
    with pytest.raises(CotuneError, match=complaint):
        list(generate(Specification(vocabulary(), (family,))))


def ended(scenario: Scenario) -> tuple[World, Basket]:
    """Return a world as a perfect assistant leaves it, by the shop's own tools."""
    bought = best(scenario.id)
    world = World.of(scenario.initial_state)
    if world.store != bought.store:
        tools.choose_store(world, bought.store.id)
    concerned = {each.item for each in scenario.final.errands if isinstance(each, ItemErrand)}
    kept = {pick.product_id for pick in bought.picks}
    for id_ in list(world.cart):
        if world.catalog.products[id_].product in concerned and id_ not in kept:
            tools.remove_from_cart(world, id_)
    for pick in bought.picks:
        if pick.product_id in world.cart:
            tools.set_quantity(world, pick.product_id, pick.errand.quantity)
            continue
        tools.show(world, [pick.product_id])
        tools.choose(world, pick.product_id)
        tools.add_to_cart(world, pick.product_id, pick.errand.quantity, pick.replaces)
    if ("checked_out", True) in reached(scenario):
        tools.check_out(world)
    return world, bought


def reached(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    for errand in scenario.final.errands:
        if isinstance(errand, ChangeErrand):
            yield from errand.reached.items()


def query(errand: ItemErrand, scenario: Scenario) -> tools.Query:
    """Return what a good search agent asks the finder for."""
    terms = [*errand.must, *errand.prefer, *scenario.final.constraints]
    said = {(term.field, term.operator): term.value for term in terms}
    return tools.Query.model_validate(
        {
            "product": errand.item,
            "quantity": errand.quantity,
            "brand": said.get(("brand", "is"), ""),
            "size": said.get(("size", "is"), ""),
            "diet": [term.value for term in terms if term.field == "diet"],
            "max_price": said.get(("price", "at_most")),
            "exclude": [said[key] for key in [("brand", "is_not")] if key in said],
        }
    )


def said(scenario: Scenario) -> Iterator[str]:
    yield scenario.goal
    yield from (revision.say for revision in scenario.revisions)
    for errand in scenario.errands:
        match errand:
            case ItemErrand(say=""):
                pass
            case ItemErrand() | ChangeErrand() | QuestionErrand() | StatementErrand():
                yield errand.say
