"""A judge's answer, entry by entry: everything that can be wrong with one is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.rubrics.judges.answer import AnswerSheet, words_of
from cotune.rubrics.judges.rendering import render
from cotune.rubrics.verdict import Status

from .judging import RUBRIC, conversation, entry, turn_entry

ASKS, CLEAR, INTEGRITY = RUBRIC.criteria
RENDERING = render(conversation().trajectory, 2000)
SHEET = AnswerSheet((ASKS, CLEAR), None, 2, RENDERING)
TURN_SHEET = AnswerSheet((INTEGRITY,), 1, 2, RENDERING)
GOOD = {"asks": entry(), "clear": entry("0.5")}

BAD_ENTRIES: dict[str, tuple[Any, str]] = {
    "null": (None, "the entry"),
    "a text": ("PASS", "the entry"),
    "a field too few": ({"applies": True}, "rationale"),
    "a field too many": (entry(note="x"), "note"),
    "a word that is none": (entry("OK"), "value: "),
    "a word in lower case": (entry("pass"), "value: "),
    "a tier of another scale": (entry("0.5"), "value: "),
    "a number for a word": (entry(value=1), "value: "),
    "no value": (entry(value=None), "value: "),
    "applies and does not": (entry("NOT_APPLICABLE", applies=True), "contradicts"),
    "does not apply and passes": (entry("PASS", applies=False), "contradicts"),
    "applies is no boolean": (entry(applies="yes"), "applies: "),
    "no reason": (entry(rationale="  "), "rationale: it is empty"),
    "a failure without a quote": (entry("FAIL", evidence=[]), "evidence: there is none"),
    "an invented quote": (entry(evidence=["I added three."]), "does not occur"),
    "an empty quote": (entry(evidence=["…"]), "does not occur"),
    "part of a word as a quote": (entry(evidence=["oat mil"]), "does not occur"),
    "four quotes": (entry(evidence=["oat milk"] * 4), "evidence: "),
    "an agent it does not have": (entry(agent="cart"), "agent: "),
    "turn 0": (entry(turns=[0]), "turns.0: "),
    "a turn too many": (entry(turns=[1, 3]), "turns.1: "),
    "a turn as text": (entry(turns=["1"]), "turns.0: "),
    "a turn as truth": (entry(turns=[True]), "turns.0: "),
    "more than sure": (entry(confidence=101), "confidence: "),
    "less than unsure": (entry(confidence=-1), "confidence: "),
    "half a per cent": (entry(confidence=0.5), "confidence: "),
}
BAD_ANSWERS: dict[str, tuple[str, str]] = {
    "nothing": ("", "not valid JSON"),
    "prose": ("The assistant did well.", "not valid JSON"),
    "fenced": (f"```json\n{json.dumps(GOOD)}\n```", "not valid JSON"),
    "cut off": (json.dumps(GOOD)[:-9], "not valid JSON"),
    "a list": (json.dumps([GOOD]), "not a JSON object"),
    "a name twice": ('{"asks": 1, "asks": 2, "clear": 3}', "'asks' is there twice"),
    "endlessly deep": ("[" * 100_000, "not valid JSON"),
}  # fmt: skip


def test_a_good_answer_becomes_verdicts():
    reading = SHEET.read(json.dumps(GOOD))
    assert not reading.problems
    asks, clear = reading.opinions["asks"], reading.opinions["clear"]
    assert (asks.verdict.value, asks.verdict.status, asks.confidence) == (1.0, Status.SCORED, 0.8)
    assert (clear.verdict.value, clear.verdict.agent) == (0.5, "responder")
    assert asks.verdict.turn == 0, "people count turns from 1, verdicts from 0"
    assert asks.verdict.evidence == ("I have added one oat milk.",)


def test_a_criterion_that_does_not_apply_has_no_value():
    reading = SHEET.read(json.dumps({**GOOD, "asks": entry("NOT_APPLICABLE", agent="none")}))
    verdict = reading.opinions["asks"].verdict
    assert (verdict.value, verdict.status) == (None, Status.NOT_APPLICABLE)


def test_nobody_is_blamed_unless_only_one_can_be():
    answer = {"asks": entry(agent="none"), "clear": entry("1", agent="none")}
    reading = SHEET.read(json.dumps(answer))
    assert reading.opinions["asks"].verdict.agent is None
    assert reading.opinions["clear"].verdict.agent == "responder"


@pytest.mark.parametrize(("bad", "said"), BAD_ENTRIES.values(), ids=BAD_ENTRIES)
def test_a_bad_entry_is_told_and_costs_no_other(bad: Any, said: str):
    reading = SHEET.read(json.dumps({**GOOD, "asks": bad}))
    assert said in reading.problems["asks"]
    assert list(reading.opinions) == ["clear"]


@pytest.mark.parametrize(("text", "said"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_an_answer_that_is_none_gives_no_opinion(text: str, said: str):
    reading = SHEET.read(text)
    assert not reading.opinions
    assert set(reading.problems) == {"asks", "clear"}
    assert said in reading.problems["asks"]


def test_a_missing_criterion_is_told_and_a_strange_one_named():
    reading = SHEET.read(json.dumps({"asks": entry(), "clearness": entry("1")}))
    assert reading.problems == {"clear": "it is missing"}
    assert reading.strange == "clearness"
    assert list(reading.opinions) == ["asks"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(number: str):
    text = json.dumps(GOOD).replace('"confidence": 80', f'"confidence": {number}', 1)
    assert "confidence" in SHEET.read(text).problems["asks"]


def test_an_entry_about_one_turn_names_no_turn():
    verdict = TURN_SHEET.read(json.dumps({"integrity": turn_entry()})).opinions["integrity"].verdict
    assert verdict.turn == 1
    assert "turns" in TURN_SHEET.read(json.dumps({"integrity": entry()})).problems["integrity"]


@pytest.mark.parametrize(
    "quote",
    ["I HAVE ADDED one  oat-milk", "“I have added one oat milk.”", "assistant: I have added",
     "\uff29 have added", "cart[p-1].quantity: 1 became 2"],
)  # fmt: skip
def test_a_quote_may_differ_in_case_spacing_and_punctuation(quote: str):
    assert "asks" in SHEET.read(json.dumps({**GOOD, "asks": entry(evidence=[quote])})).opinions


def test_the_schema_asks_for_reasons_before_values_and_nothing_else():
    schema = SHEET.schema()
    assert schema["required"] == ["asks", "clear"]
    assert schema["additionalProperties"] is False
    asks = schema["properties"]["asks"]
    order = list(asks["properties"])
    assert order == asks["required"]
    assert order.index("applies") < order.index("rationale") < order.index("value")
    assert asks["properties"]["value"]["enum"] == ["PASS", "FAIL", "NOT_APPLICABLE"]
    assert asks["properties"]["agent"]["enum"] == ["router", "responder", "none"]
    assert words_of(CLEAR) == ("1", "0.5", "0")


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.text() | _JSON.map(json.dumps) | _JSON.map(lambda bad: json.dumps({**GOOD, "asks": bad})))
def test_whatever_is_answered_each_criterion_has_an_opinion_or_a_problem(text: str):
    reading = SHEET.read(text)
    assert {*reading.opinions, *reading.problems} == {"asks", "clear"}
    assert not set(reading.opinions) & set(reading.problems)
