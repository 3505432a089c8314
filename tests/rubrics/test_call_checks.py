from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.rubrics.checks.call import (
    equals,
    none_of,
    one_of,
    same_number,
    same_set,
    same_text,
)
from cotune.rubrics.checks.text import normalise, same_name
from cotune.rubrics.subject import CallRecord
from cotune.rubrics.verdict import Status


def record(found: object, gold: object) -> CallRecord:
    return CallRecord({}, {"x": found}, {"x": gold})


@pytest.mark.parametrize(
    ("check", "found", "gold", "value"),
    [
        (equals, "cart", "cart", 1),
        (equals, "Cart", "cart", 0),
        (same_text, "Oat Milks", "oat milk", 1),
        (same_text, "oat drink", "oat milk", 0),
        (same_text, "oat drink", ["oat milk", "oat drink"], 1),
        (same_text, "", "", 1),
        (same_text, "vegan", "", 0),
        (same_text, None, "", 0),
        (same_number, 2, 2.0, 1),
        (same_number, 0.1 + 0.2, 0.3, 1),
        (same_number, 3, 2, 0),
        (same_number, None, None, 1),
        (same_number, 0, None, 0),
        (same_number, None, 0, 0),
        (same_number, True, 1, 0),
        (same_number, "2", 2, 0),
        (same_set, ["nuts", "Soy"], ["soy", "nut"], 1),
        (same_set, [], [], 1),
        (same_set, ["nut"], ["nut", "soy"], 0),
        (same_set, "nut", ["nut"], 0),
        (same_set, [{"a": 1}], ["nut"], 0),
    ],
)
def test_a_field_is_compared_with_gold(check, found, gold, value):
    finding = check(record(found, gold), field="x")

    assert finding.value == value


def test_a_number_may_be_off_by_the_tolerance():
    assert same_number(record(2.49, 2.5), field="x", tolerance=0.02).value == 1
    assert same_number(record(2.47, 2.5), field="x", tolerance=0.02).value == 0


@pytest.mark.parametrize(("choice", "value"), [("p1", 1), ("none", 0), (None, 0)])
def test_one_of_accepts_members_of_the_gold_list(choice, value):
    call = CallRecord({}, {"choice": choice}, {"acceptable": ["p1", "p2"]})

    assert one_of(call, field="choice", accepted="acceptable").value == value


def test_none_of_refuses_members_of_the_gold_list():
    def finding(forbidden: list[str]):
        call = CallRecord({}, {"choice": "p1"}, {"forbidden": forbidden})
        return none_of(call, field="choice", forbidden="forbidden")

    assert finding(["p1"]).value == 0
    assert finding(["p2"]).value == 1
    assert finding([]).status is Status.NOT_APPLICABLE


def test_the_rationale_says_what_was_expected_and_found():
    finding = equals(record("cart", "search"), field="x")

    assert finding.rationale == 'x: expected "search", found "cart".'
    assert finding.evidence == ('x="cart"',)


def test_a_missing_output_fails_and_a_missing_gold_does_not_apply():
    assert equals(CallRecord({}, {}, {"x": None}), field="x").value == 0
    assert equals(CallRecord({}, {"x": 1}, {}), field="x").status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Crème-Fraîche", "creme fraiche"),
        ("tomatoes", "tomato"),
        ("berries", "berry"),
        ("cookies", "cookie"),
        ("peaches", "peach"),
        ("pies", "pie"),
        ("glasses", "glass"),
        ("  Brötchen ", "brotchen"),
        ("500g", "500 g"),
        ("1.5 L", "1.5l"),
        ("豆腐", "豆腐"),
    ],
)
def test_the_same_thing_has_the_same_name(first, second):
    assert same_name(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("oat milk", "milk"), ("1.5 l", "15 l"), ("6 pack", "16 pack"), ("egg", ""), ("豆腐", "豆")],
)
def test_different_things_keep_different_names(first, second):
    assert not same_name(first, second)


@given(st.text(max_size=20))
def test_case_and_outer_space_never_matter(text):
    assert normalise(f"  {text}\n") == normalise(text)


@given(st.from_regex(r"[a-z]+( [a-z]+)?", fullmatch=True))
def test_upper_case_is_the_same_name(text):
    assert same_name(text.upper(), text)
