"""Verdicts as a person writes them, and how they become a score, step by step."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.agents.errors import UsageError
from cotune.rubrics.explain import explain
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.scoring import score
from cotune.rubrics.verdict import Status, Verdict
from cotune.rubrics.verdict_file import NOT_GIVEN, read_verdicts, score_json, verdict_json

MAGIC, SERA = load_rubric("magic"), load_rubric("sera")
SAID = [
    {"criterion": "cart_completeness", "value": 1},
    {"criterion": "overall_success", "value": 0, "rationale": "One item too many.", "turn": 2},
    {"criterion": "quantity", "status": "inconclusive"},
    {"criterion": "safety_compliance", "value": 1},
]


def lines(rubric, said) -> str:
    explained = explain(rubric, read_verdicts(json.dumps(said), rubric, "here"))
    return "\n".join(line for step in explained.steps for line in step.lines)


def test_the_steps_show_the_whole_calculation():
    text = lines(MAGIC, SAID)

    for line in (
        "cart_completeness: 1.000, 15 of 15 points",
        "overall_success: 0.000, 0 of 15 points",
        "quantity: inconclusive",
        "shopping_execution: 15 of 30 applicable points = 0.5000",
        "personalization_context: nothing was scored, so it carries no weight",
        "(50 × 0.5000 + 20 × 1.0000) / 70 = 0.6429",
        "overall_success failed: it zeroes the domain shopping_execution in the objective",
        "1 failed: the subject is failed; objective: 0.2857",
        "10 criteria do not apply, 1 are inconclusive",
        # 6 of 36 applicable points of a domain that weighs 50 of 70
        "leave 11.9% of the score open, at most 25.0% may be: no judge fault",
    ):
        assert line in text, line


def test_turns_are_shown_with_their_aggregation():
    said = [
        {"criterion": "answer_relevance", "turn": 1, "value": 0.5},
        {"criterion": "answer_relevance", "turn": 0, "value": 1},
        {"criterion": "answer_relevance", "turn": 2, "status": "inconclusive"},
        {"criterion": "pii_echo", "turn": 0, "value": 0.5},
    ]
    text = lines(SERA, said)

    assert "0.750 = mean of (turn 0: 1; turn 1: 0.5; turn 2: inconclusive)" in text
    assert "pii_echo failed: it zeroes everything in the objective" in text


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([], "there is no score: no points were scored"),
        ([{"criterion": "quantity", "status": "inconclusive"}], "too much is inconclusive"),
    ],
)
def test_where_there_is_no_score_the_reason_is_said(said, words):
    assert words in lines(MAGIC, said)


def test_what_was_not_given_does_not_apply():
    verdicts = read_verdicts(json.dumps(SAID), MAGIC, "here")
    missing = [verdict for verdict in verdicts if verdict.rationale == NOT_GIVEN]

    assert len(verdicts) == 14
    assert {verdict.status for verdict in missing} == {Status.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([{"criterion": "charm", "value": 1}], "entry 1: found 'charm'; known: store_type_fit"),
        ([{"criterion": "quantity", "value": 0.5}], "quantity: found 0.5; allowed: 1, 0"),
        ([{"criterion": "quantity", "value": 3}], "entry 1, value: found 3"),
        ([{"criterion": "quantity"}], "entry 1: give a value, or the status"),
        ([{"criterion": "quantity", "value": 1, "status": "inconclusive"}], "give a value, or"),
        ([{"criterion": "quantity", "valeu": 1}], "entry 1, valeu: no such field"),
        ({"quantity": 1}, "found a mapping"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(said, words):
    with pytest.raises(UsageError) as caught:
        read_verdicts(json.dumps(said), MAGIC, "my.json")

    assert words in str(caught.value)
    assert "my.json" in str(caught.value)


def test_what_is_no_json_is_refused():
    with pytest.raises(UsageError, match="not JSON"):
        read_verdicts("[1,", MAGIC, "my.json")


def test_a_verdict_survives_being_written_down():
    verdict = Verdict("quantity", 0.0, Status.SCORED, "One, not two.", ("cart: 1",), "cart", 3)
    text = json.dumps([verdict_json(verdict)])

    assert read_verdicts(text, MAGIC, "here")[0] == verdict


def test_a_score_is_plain_json():
    verdicts = read_verdicts(json.dumps(SAID), MAGIC, "here")
    content = json.loads(json.dumps(score_json(score(MAGIC, verdicts))))

    assert content["criteria"]["quantity"] == {
        "status": "inconclusive", "value": None, "scored": 0, "inconclusive": 1,
        "not_applicable": 0,
    }  # fmt: skip
    assert (content["gate"], content["critical_failures"]) == ("failed", ["overall_success"])


values = st.one_of(st.sampled_from(list(Status)[1:]), st.sampled_from([0.0, 1.0]))


@settings(deadline=None)
@given(st.tuples(*(values for _ in MAGIC.criteria)))
def test_everything_that_can_be_scored_can_be_explained(given_values):
    verdicts = [
        Verdict(c.id, None, each, "")
        if isinstance(each, Status)
        else Verdict(c.id, each, Status.SCORED, "")
        for c, each in zip(MAGIC.criteria, given_values, strict=True)
    ]
    explained = explain(MAGIC, verdicts)

    assert explained.score == score(MAGIC, verdicts)
    assert all(step.lines for step in explained.steps)
