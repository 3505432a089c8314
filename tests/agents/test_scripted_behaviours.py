from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import dspy
import pytest

from cotune import agents
from cotune.agents.compact_adapter import build_request
from cotune.agents.grocery.signatures import (
    Brief,
    ChangeCart,
    Prefer,
    Respond,
    Route,
    Search,
    Select,
)
from cotune.agents.scripted.engine import ScriptedEngine
from cotune.optimizer.proposers.reflection import Proposal

TRAIN = Path(str(agents.__file__)).parent / "grocery" / "examples" / "routing" / "train.jsonl"
BARE = "Choose the agent."
ENGINE = ScriptedEngine.parse("grocery")


def ask(signature: type[dspy.Signature], prompt: str, **inputs: Any) -> dict[str, Any]:
    """What the simulation says, by the way every request takes."""
    request = build_request(
        "scripted/grocery", {}, _instructed(cast(Any, signature), prompt), [], inputs
    )
    return json.loads(ENGINE.complete(request).text or "")


@cache
def _instructed(signature: type[dspy.Signature], prompt: str) -> type[dspy.Signature]:
    instructed = signature.with_instructions(prompt)
    instructed.__name__ = signature.__name__
    return instructed


def with_rules(prompt: str, rules: Iterable[str]) -> str:
    return "\n".join([prompt, "", "## Rules", *(f"- {rule}" for rule in rules)])


def with_examples(prompt: str, examples: Iterable[Mapping[str, Any]]) -> str:
    blocks = (
        f"Input: {each['inputs']['message']}\nOutput: {json.dumps(each['gold'])}"
        for each in examples
    )
    return "\n".join([prompt, "", "## Examples", *blocks])


# --- Route -----------------------------------------------------------------------------------


def _accuracy(prompt: str, examples: list[dict[str, Any]]) -> float:
    right = [ask(Route, prompt, **each["inputs"]) == each["gold"] for each in examples]
    return sum(right) / len(right)


def test_rules_help_the_router_and_examples_help_more() -> None:
    if not TRAIN.exists():
        pytest.skip("no routing examples")
    examples = [json.loads(line) for line in TRAIN.read_text(encoding="utf-8").splitlines()]
    first_rules = {each["gold"]["agent"]: each["why"] for each in reversed(examples)}
    bare, rules, more = [], [], []
    for shuffle in range(4):
        order = examples[:]
        random.Random(shuffle).shuffle(order)
        shown, unseen = order[:12], order[12:]
        ruled = with_rules(BARE, first_rules.values())
        bare.append(_accuracy(BARE, unseen))
        rules.append(_accuracy(ruled, unseen))
        more.append(_accuracy(with_examples(ruled, shown), unseen))
    assert sum(bare) + 0.3 < sum(rules) < sum(more)
    assert 0.3 < sum(bare) / len(bare) < 0.65
    assert 0.65 < sum(more) / len(more) <= 1


@pytest.mark.parametrize(
    "rule",
    [
        "Choosing among products that were already shown goes to selector.",
        "selector: choosing among products already shown",
        "**selector** - compares the products shown",
        "Use `selector` for comparing what was shown.",
    ],
)
def test_router_understands_a_rule_in_several_forms(rule: str) -> None:
    message = "Which of these is bigger? I want the bigger one."
    assert ask(Route, with_rules(BARE, [rule]), message=message) == {"agent": "selector"}


def test_router_learns_from_a_worked_example_alone() -> None:
    message = "Does the courier also come on Sundays?"
    example = {"inputs": {"message": "Does the courier come at night?"}, "gold": {"agent": "cart"}}
    assert ask(Route, BARE, message=message) != {"agent": "cart"}
    assert ask(Route, with_examples(BARE, [example]), message=message) == {"agent": "cart"}


def test_router_puts_first_what_a_rule_puts_first() -> None:
    rules = [
        "A wish for a product goes to search.",
        "A standing fact to remember goes to preferences.",
    ]
    first = (
        "When a standing fact comes with a wish for a product, the fact goes first, to preferences."
    )
    message = "I'm allergic to nuts, find me some bread"
    assert ask(Route, with_rules(BARE, [*rules, first]), message=message) == {
        "agent": "preferences"
    }


def test_router_ignores_a_greeting_only_when_told() -> None:
    rules = ["Greetings and thanks go to responder.", "A wish for a product goes to search."]
    told = [*rules, "A greeting beside a real request never counts."]
    message = "Hello and good morning! Bread"
    greeted = ask(Route, with_rules(BARE, told), message="Good morning!")
    assert greeted == {"agent": "responder"}
    assert ask(Route, with_rules(BARE, rules), message=message) == {"agent": "responder"}
    wish = "Good morning! I need some bread."
    assert ask(Route, with_rules(BARE, told), message=wish) == {"agent": "search"}


# --- Search ----------------------------------------------------------------------------------

EMPTY = {
    "product": "", "quantity": 1, "size": "", "brand": "", "diet": [], "max_price": None,
    "exclude": [], "store": "",
}  # fmt: skip
RICH = (
    "Please get three bottles of vegan oat milk from Alpro, 500 ml, at Lidl, "
    "for at most 2.50 euros, without sunflower oil"
)


def test_bare_search_extracts_the_product_only() -> None:
    answer = ask(Search, "Fill in the form.", message=RICH, previous=None)
    assert answer == {**EMPTY, "product": "oat milk"}


@pytest.mark.parametrize(
    ("rule", "field", "value"),
    [
        ("Quantity is how many units are wanted.", "quantity", 3),
        ("Size is the weight or volume of one unit.", "size", "500 ml"),
        ("A named brand fills brand.", "brand", "Alpro"),
        ("Write the diet that is asked for.", "diet", ["vegan"]),
        ("A budget sets the limit per item.", "max_price", 2.5),
        ("What is not wanted goes to exclude.", "exclude", ["sunflower oil"]),
        ("Where to buy is the store.", "store", "Lidl"),
    ],
)
def test_each_search_skill_is_switched_on_by_its_rule_alone(
    rule: str, field: str, value: Any
) -> None:
    prompt = with_rules("Fill in the form.", [rule])
    answer = ask(Search, prompt, message=RICH, previous=None)
    assert answer == {**EMPTY, "product": "oat milk", field: value}


def test_worked_example_switches_on_the_skills_it_shows() -> None:
    shown = {
        "inputs": {"message": "message: 4 eggs\nprevious: null"},
        "gold": {**EMPTY, "product": "egg", "quantity": 4},
    }
    prompt = with_examples("Fill in the form.", [shown])
    answer = ask(Search, prompt, message="two apples, vegan", previous=None)
    assert answer == {**EMPTY, "product": "apple", "quantity": 2}


def test_implied_diets_need_a_rule_of_their_own() -> None:
    message = "My son is lactose intolerant, he wants custard"
    named = with_rules("Fill in.", ["Write the diet."])
    implied = with_rules("Fill in.", ["Write the diet, also when it is only implied."])
    assert ask(Search, named, message=message, previous=None)["diet"] == []
    assert ask(Search, implied, message=message, previous=None)["diet"] == ["lactose_free"]


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("one more", {"quantity": 3}),
        ("make it four", {"quantity": 4}),
        ("double", {"quantity": 4}),
        ("almond spread no, butter instead", {"product": "almond"}),
        ("any shop", {"store": ""}),
        ("it has to be vegan", {"diet": ["organic", "vegan"]}),
    ],
)
def test_revisions_keep_what_they_do_not_speak_of(message: str, changes: dict[str, Any]) -> None:
    rules = ["A revision keeps the previous fields.", "Mind quantity, diet and store."]
    before = {**EMPTY, "product": "jam", "quantity": 2, "diet": ["organic"], "store": "Lidl"}
    answer = ask(Search, with_rules("Fill in.", rules), message=message, previous=before)
    assert answer == {**before, **changes}
    forgetful = ask(Search, "Fill in.", message=message, previous=before)
    assert forgetful["store"] == ""


def test_further_product_starts_a_fresh_query() -> None:
    before = {**EMPTY, "product": "jam", "store": "Lidl"}
    prompt = with_rules("Fill in.", ["A revision keeps the previous query."])
    answer = ask(Search, prompt, message="bread too", previous=before)
    assert answer == {**EMPTY, "product": "bread"}


# --- Select ----------------------------------------------------------------------------------


def _candidate(id_: str, **facts: Any) -> dict[str, Any]:
    usual = {"name": "Tofu", "brand": "Sojana", "size": "200 g", "price": 2.0, "diet": [],
             "in_stock": True, "store": "Marktplatz"}  # fmt: skip
    return {"id": id_, **usual, **facts}


@pytest.mark.parametrize(
    ("rule", "request_", "first", "second"),
    [
        ("Only what is in stock.", "tofu", {"in_stock": False}, {}),
        ("Keep to the diet.", "vegan tofu", {}, {"diet": ["vegan"]}),
        ("Respect what they exclude.", "tofu without garlic", {"name": "Garlic tofu"}, {}),
        ("Stay below the budget.", "tofu under 1.50 euros", {}, {"price": 1.2}),
        ("Prefer the named brand.", "Alpro tofu", {}, {"brand": "Alpro"}),
        ("Prefer the store asked for.", "tofu from Lindenhof", {}, {"store": "Lindenhof"}),
        ("Take the lowest price per unit.", "tofu", {}, {"price": 3.0, "size": "1 kg"}),
        ("Mind the size.", "tofu, exactly 400 g", {}, {"size": "400 g"}),
    ],
)
def test_each_check_of_the_selector_is_switched_on_by_its_rule_alone(
    rule: str, request_: str, first: dict[str, Any], second: dict[str, Any]
) -> None:
    candidates = [_candidate("p-1", **first), _candidate("p-2", **second)]
    asked = {"request": request_, "candidates": candidates}
    assert ask(Select, "Pick one.", **asked) == {"choice": "p-1", "quantity": 1}
    assert ask(Select, with_rules("Pick one.", [rule]), **asked)["choice"] == "p-2"


def test_selector_says_none_only_when_told_that_it_may() -> None:
    asked = {"request": "vegan tofu", "candidates": [_candidate("p-1")]}
    strict = with_rules("Pick one.", ["Keep to the diet."])
    honest = with_rules("Pick one.", ["Keep to the diet.", "Say none if nothing fits."])
    assert ask(Select, strict, **asked)["choice"] == "p-1"
    assert ask(Select, honest, **asked)["choice"] == "none"


def test_selector_counts_when_told() -> None:
    asked = {"request": "three packs of tofu", "candidates": [_candidate("p-1")]}
    assert ask(Select, with_rules("Pick.", ["Mind the quantity."]), **asked)["quantity"] == 3


# --- The others ------------------------------------------------------------------------------


def test_briefer_passes_preferences_on_only_when_told() -> None:
    asked = {"message": "some bread", "history": "", "preferences": "vegan", "agent": "search"}
    assert ask(Brief, "Be brief.", **asked) == {"brief": "some bread"}
    told = ask(Brief, "Pass on the customer's preferences.", **asked)
    assert "some bread" in told["brief"]
    assert "vegan" in told["brief"]


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("I'm vegan", [("remember", "diet", "vegan")]),
        ("My son is allergic to peanuts.", [("remember", "allergy", "peanut")]),
        ("We are six people at home", [("remember", "household", "6")]),
        ("I always buy Barilla", [("remember", "brand", "Barilla")]),
        ("Forget that I am vegan", [("forget", "diet", "vegan")]),
        ("What do you know about me?", [("recall", "other", "")]),
    ],
)
def test_preferences_are_read(message: str, changes: list[tuple[str, str, str]]) -> None:
    prompt = "Remember, forget or recall facts."
    answer = ask(Prefer, prompt, message=message, known=[])
    assert [tuple(change.values()) for change in answer["changes"]] == changes


@pytest.mark.parametrize(
    ("message", "operation"),
    [
        ("I'd like to pay now", ("checkout", "", 0)),
        ("Empty my cart", ("clear", "", 0)),
        ("What's in my cart?", ("show", "", 0)),
        ("Take the bananas out again", ("remove", "p-7", 0)),
        ("Make the milk four instead", ("set_quantity", "p-8", 4)),
        ("One more of the bananas", ("set_quantity", "p-7", 2)),
        ("double the milk", ("set_quantity", "p-8", 4)),
        ("Add two of the tofu", ("add", "p-2", 2)),
    ],
)
def test_cart_operations_are_read(message: str, operation: tuple[str, str, int]) -> None:
    asked = {
        "brief": "",
        "cart": [
            {"product_id": "p-7", "name": "Bananas", "quantity": 1},
            {"product_id": "p-8", "name": "Whole milk", "quantity": 2},
        ],
        "shown": [{"id": "p-1", "name": "Oat drink"}, {"id": "p-2", "name": "Smoked tofu"}],
    }
    answer = ask(ChangeCart, "Mind the quantity.", message=message, **asked)
    assert [tuple(each.values()) for each in answer["operations"]] == [operation]


@pytest.mark.parametrize(
    ("message", "orders"),
    [
        ("how much is milk?", False),
        ("How much does the tofu cost", False),
        ("Hi, do you have smoked tofu?", False),
        ("Is the milk organic?", False),
        ("What's the price of the tofu?", False),
        ("Can I have the tofu?", True),
        ("How about two of the tofu?", True),
        ("Is there tofu? Add two.", True),
    ],
)
def test_a_question_is_no_order(message: str, orders: bool) -> None:
    asked = {
        "brief": "",
        "cart": [{"product_id": "p-8", "name": "Whole milk", "quantity": 2}],
        "shown": [{"id": "p-2", "name": "Smoked tofu"}],
    }
    answer = ask(ChangeCart, "Mind the quantity.", message=message, **asked)
    assert [each["action"] for each in answer["operations"]] == (["add"] if orders else [])


def test_responder_says_what_happened_and_declines_what_it_must() -> None:
    asked = {"message": "Add tofu", "history": ""}
    answer = ask(Respond, "Answer.", **asked, events=["Added 1 x Tofu", "Total is 2.00"])
    assert answer == {"reply": "Added 1 x Tofu. Total is 2.00."}
    off_topic = {"message": "Write me a poem", "history": "", "events": []}
    assert "only help with groceries" in ask(Respond, "Answer.", **off_topic)["reply"]


def test_reflection_adds_the_rules_found_in_the_failures() -> None:
    calls = (
        "BEGIN DATA\nReceived: x\nReturned: y\nWrong: no\nRule: Thanks go to responder.\n\n"
        "Received: z\nReturned: y\nWrong: no\nRule: New products go to search.\n\n"
        "Received: z\nReturned: y\nWrong: no\nRule: New products go to search.\nEND DATA"
    )
    asked = {"agent": "router", "purpose": "", "calls": calls, "turned_down": "none",
             "length_limit": 4000}  # fmt: skip
    answer = ask(Proposal, "Improve.", present_prompt="BEGIN DATA\nChoose.\nEND DATA", **asked)
    rules = ["New products go to search.", "Thanks go to responder."]
    assert answer["prompt"] == with_rules("Choose.", rules)
    assert "2" in answer["diagnosis"]
    again = ask(Proposal, "Improve.", present_prompt=answer["prompt"], **asked)
    assert again["prompt"] == answer["prompt"]
