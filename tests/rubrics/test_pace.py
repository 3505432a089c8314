"""PACE: structured verdicts, what they amount to, and how they compare with gold."""

from __future__ import annotations

from typing import Any

import pytest

from cotune.rubrics.evaluate import evaluate
from cotune.rubrics.pace import Family, as_verdicts, axis_of, families, read_pace
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.scoring import score
from cotune.rubrics.subject import CallRecord
from cotune.rubrics.verdict import Status

POOL = ["e1", "e2", "e3"]
BAD: dict[str, Any] = {
    "rationale": "It recommends beef to a vegan.",
    "evidence": ["e1"],
    "axes": {"persona": 1.5, "consistency": 3.0, "grounding": 4.0, "auxiliary": 3.0},
    "family": "PREF_CONFLICT",
    "location": "overview",
    "verdict": "BAD",
    "bad_probability": 0.9,
    "confidence": 0.8,
}
GOOD: dict[str, Any] = {
    **BAD,
    "axes": {"persona": 3.0, "consistency": 3.0, "grounding": 3.0, "auxiliary": 3.0},
    "family": "NONE",
    "location": "NONE",
    "verdict": "GOOD",
    "bad_probability": 0.1,
}


@pytest.mark.parametrize("answer", [GOOD, BAD])
def test_a_whole_verdict_is_read(answer):
    assert read_pace(answer, POOL).model_dump(mode="json") == answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({**GOOD, "family": "PREF_CONFLICT"}, "GOOD verdict has the family NONE"),
        ({**GOOD, "location": "overview"}, "GOOD verdict has the family NONE"),
        ({**BAD, "family": "NONE"}, "names a family and a location"),
        ({**BAD, "family": "TASTE"}, "family"),
        ({**BAD, "evidence": ["e1", "e9"]}, "outside the pool: e9"),
        ({**BAD, "bad_probability": 1.2}, "bad_probability"),
        ({**BAD, "axes": {**BAD["axes"], "persona": -1}}, "persona"),
        ({key: value for key, value in BAD.items() if key != "confidence"}, "confidence"),
        ({**BAD, "mood": "fine"}, "mood"),
    ],
)
def test_what_contradicts_itself_or_the_pool_is_refused(answer, said):
    with pytest.raises(ValueError, match=said):
        read_pace(answer, POOL)


def test_seven_families_have_a_text_and_an_axis():
    assert [each.name for each in families()] == [f for f in Family if f is not Family.NONE]
    assert len(families()) == 7
    assert axis_of(Family.PREF_CONFLICT) == "persona"
    assert axis_of(Family.NONE) is None


def test_a_bad_answer_worked_by_hand():
    pace = load_rubric("pace")
    result = score(pace, as_verdicts(read_pace(BAD, POOL)))

    # persona is below 3.0: 3 of the 4 axes, 25 points each, are without a fault
    assert result.score == pytest.approx(75 / 100)
    assert (result.passed, result.objective) == (False, 0.0)
    assert result.critical_failures == ("verdict",)


def test_a_good_answer_worked_by_hand():
    result = score(load_rubric("pace"), as_verdicts(read_pace(GOOD, POOL)))

    assert (result.score, result.objective, result.passed) == (1.0, 1.0, True)


def against(gold: dict[str, Any], answer: dict[str, Any]):
    rubric = load_rubric("pace_gold")
    pool = [{"id": id_, "text": "…"} for id_ in POOL]
    return score(rubric, evaluate(rubric, CallRecord({"pool": pool}, answer, gold)))


GOLD = {"verdict": "BAD", "family": "PREF_CONFLICT", "location": "overview"}


@pytest.mark.parametrize(
    ("gold", "answer", "number"),
    [
        pytest.param(GOLD, BAD, 1.0, id="all right"),
        # decision 1 of 1, weight 50; cause: 20 for the axis of 60 + 20, weight 50
        pytest.param({**GOLD, "location": "categories"}, BAD, 0.5 + 0.5 * 20 / 80, id="location"),
        # decision 0; cause: family and location wrong, the axis is not below 3.0
        pytest.param(GOLD, GOOD, 0.0, id="missed"),
        # decision 1; cause: 60 + 0 + 20 of 100 (the persona is faulty, not grounding)
        pytest.param(
            {**GOLD, "family": "UNSUPPORTED_EVIDENCE", "evidence": ["e1"]},
            {**BAD, "family": "UNSUPPORTED_EVIDENCE"},
            0.5 + 0.5 * 80 / 100,
            id="axis",
        ),
        pytest.param(
            {"verdict": "GOOD", "family": "NONE", "location": "NONE"}, BAD, 0.0, id="false fire"
        ),
        pytest.param({"verdict": "BAD"}, BAD, 1.0, id="verdict only"),
    ],
)
def test_agreement_with_gold_worked_by_hand(gold, answer, number):
    result = against(gold, answer)

    assert result.score == pytest.approx(number)
    assert result.passed is True


def test_a_verdict_that_breaks_the_rules_fails_the_gate_whatever_it_says():
    result = against(GOLD, {**BAD, "evidence": ["e9"]})

    assert (result.passed, result.critical_failures) == (False, ("well_formed",))
    # of the objective the decision is zeroed; the cause's axis cannot be read: 60 of 80
    assert result.objective == pytest.approx(0.5 * 60 / 80)


def test_without_gold_only_the_form_is_judged():
    result = against({}, BAD)

    assert (result.score, result.passed, result.not_applicable) == (None, True, 4)
    assert result.criteria["well_formed"].status is Status.SCORED
