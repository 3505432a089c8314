from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cotune.agents.assistant import Reply
from cotune.agents.errors import Fault, FaultOrigin
from cotune.rubrics.checks.registry import find_check
from cotune.rubrics.evaluate import NEEDS_A_JUDGE, evaluate
from cotune.rubrics.feedback import feedback_for
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.scoring import score
from cotune.rubrics.subject import CallRecord, ConversationRecord, SubjectKind
from cotune.rubrics.verdict import Finding, Status
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

EGG = {"product_id": "p-1", "name": "Eggs", "product": "egg", "brand": "Hof", "price": 2.0}
SHOP = Scenario(
    id="s-1",
    family="f",
    goal="Two packs of eggs.",
    expected={"cart": [{"product": "egg", "quantity": 2}], "store": "s-market"},
)
QUERY = {
    "product": "oat milk", "quantity": 2, "size": "1 l", "brand": "", "diet": ["vegan"],
    "max_price": None, "exclude": [], "store": "",
}  # fmt: skip


def conversation(quantity: int) -> ConversationRecord:
    state = {"cart": [{**EGG, "quantity": quantity}], "store": "s-market"}
    return ConversationRecord(Trajectory("s-1", (), state, StopReason.SATISFIED), SHOP)


def call(gold: dict, **outputs: object) -> CallRecord:
    return CallRecord({}, outputs, gold)


def test_magic_is_scored_by_its_checks_and_says_what_needs_a_judge():
    magic = load_rubric("magic")
    verdicts = evaluate(magic, conversation(quantity=1))
    result = score(magic, verdicts)

    values = {v.criterion: v.value for v in verdicts if v.status is Status.SCORED}
    assert values == {
        "cart_completeness": 1,
        "quantity": 0,
        "no_extras_duplicates": 1,
        "overall_success": 0,
        "store_selection": 1,
    }
    waiting = [v.criterion for v in verdicts if v.rationale == NEEDS_A_JUDGE]
    checked_both_ways = [c.id for c in magic.criteria if c.check and c.check_proves == "both"]
    assert waiting == [c.id for c in magic.criteria if c.id not in checked_both_ways]
    assert len(waiting) == 6
    assert result.score == pytest.approx((50 * 21 / 42 + 20) / 70)
    assert result.critical_failures == ("overall_success",)


def test_a_perfect_conversation_scores_one():
    magic = load_rubric("magic")
    result = score(magic, evaluate(magic, conversation(quantity=2)))

    assert (result.score, result.objective, result.passed) == (1.0, 1.0, True)


def test_a_conversation_with_a_fault_has_no_score():
    magic = load_rubric("magic")
    record = conversation(quantity=2)
    fault = Fault(FaultOrigin.PROVIDER, "rate_limit", "Too many requests.")
    broken = replace(record, trajectory=replace(record.trajectory, fault=fault))

    result = score(magic, evaluate(magic, broken))

    assert (result.score, result.passed, result.inconclusive) == (None, None, 14)


def test_a_call_is_not_scored_by_a_conversations_rubric():
    with pytest.raises(ValueError, match="scores a trajectory, not a call"):
        evaluate(load_rubric("magic"), call({"agent": "cart"}))


@pytest.mark.parametrize(("found", "number"), [("search", 1.0), ("cart", 0.0)])
def test_routing_scores_the_label(found, number):
    verdicts = evaluate(load_rubric("grocery_routing"), call({"agent": "search"}, agent=found))

    assert score(load_rubric("grocery_routing"), verdicts).score == number
    assert verdicts[0].agent == "router"


@pytest.mark.parametrize(
    ("change", "number"),
    [
        ({}, 1.0),
        ({"product": "Oat Milks", "size": "1l"}, 1.0),
        ({"product": "milk"}, 0.7),
        ({"quantity": 1, "diet": []}, 0.7),
        ({"max_price": 2.5, "store": "Edeka", "brand": "Oatly"}, 0.75),
    ],
)
def test_search_is_scored_field_by_field(change, number):
    search = load_rubric("grocery_search")
    verdicts = evaluate(search, call(QUERY, **{**QUERY, **change}))

    assert score(search, verdicts).score == pytest.approx(number)


def test_an_unusable_answer_scores_zero():
    search = load_rubric("grocery_search")

    assert score(search, evaluate(search, call(QUERY))).score == 0.0


@pytest.mark.parametrize(
    ("choice", "number", "objective"),
    [("p-1", 1.0, 1.0), ("p-2", 0.3, 0.3), ("p-3", 0.15, 0.0), ("none", 0.3, 0.3)],
)
def test_selection_zeroes_a_choice_that_breaks_a_hard_constraint(choice, number, objective):
    selector = load_rubric("grocery_selector")
    gold = {"choice": "p-1", "acceptable": ["p-1"], "forbidden": ["p-3"], "quantity": 1}
    result = score(selector, evaluate(selector, call(gold, choice=choice, quantity=1)))

    assert result.score == pytest.approx(number)
    assert result.objective == pytest.approx(objective)


def said(*replies: str) -> ConversationRecord:
    """Return a conversation in which the assistant says this with an empty cart."""
    turns = tuple(Turn("Eggs, please.", Reply(text), {"cart": []}) for text in replies)
    return ConversationRecord(Trajectory("s-1", turns, {"cart": []}, StopReason.SATISFIED), SHOP)


def test_a_check_that_proves_failures_only_fails_or_leaves_it_to_a_judge():
    def verdict(record):
        return next(
            each
            for each in evaluate(load_rubric("magic"), record)
            if each.criterion == "information_integrity"
        )

    false = verdict(said("Hello!", "I have added the eggs."))
    assert (false.value, false.turn, false.agent) == (0, 1, "responder")
    silent = verdict(said("Hello!"))
    assert (silent.status, silent.rationale) == (Status.NOT_APPLICABLE, NEEDS_A_JUDGE)


def test_a_criterion_per_turn_has_a_verdict_per_turn():
    sera = load_rubric("sera")

    def turns(record):
        verdicts = evaluate(sera, record)
        score(sera, verdicts)
        return [(v.value, v.turn) for v in verdicts if v.criterion == "context_grounding"]

    assert turns(said("Hello!", "I have added the eggs.")) == [(None, 0), (0, 1)]
    assert turns(said()) == [(None, None)]


OWN_CHECKS = """\
from cotune.rubrics.subject import CallRecord
from cotune.rubrics.verdict import Finding


def polite(record: CallRecord, *, words: tuple[str, ...] = ("please",)) -> Finding:
    return Finding.scored(any(word in record.outputs["text"] for word in words), "looked")


def half(record: CallRecord) -> Finding:
    return Finding.scored(0.5, "half of it")
"""


@pytest.fixture
def own_rubric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_shop_checks.py").write_text(OWN_CHECKS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def rubric(**check: object) -> Rubric:
        criterion = {
            "id": "own", "name": "Own", "domain": "all", "points": 1, "passes": "yes",
            "fails": "no", "check": check,
        }  # fmt: skip
        path = tmp_path / "own.yaml"
        domains = [{"id": "all", "name": "All", "weight": 100}]
        data = {"id": "own", "name": "Own", "subject": "call", "domains": domains}
        path.write_text(json.dumps({**data, "criteria": [criterion]}), encoding="utf-8")
        return load_rubric(path)

    return rubric


def test_a_users_own_check_is_named_by_its_import_path(own_rubric):
    record = call({}, text="bitte")

    default = evaluate(own_rubric(name="my_shop_checks:polite"), record)
    german = evaluate(own_rubric(name="my_shop_checks:polite", words=["bitte"]), record)

    assert (default[0].value, german[0].value) == (0, 1)


def test_a_users_own_check_is_read_once(own_rubric):
    own_rubric(name="my_shop_checks:polite")

    first, second = (find_check("my_shop_checks:polite", SubjectKind.CALL) for _ in range(2))

    assert first is second


def test_a_check_that_breaks_is_inconclusive(own_rubric):
    (verdict,) = evaluate(own_rubric(name="my_shop_checks:polite"), call({}))

    assert verdict.status is Status.INCONCLUSIVE
    assert "KeyError" in verdict.rationale


def test_a_value_that_the_scale_does_not_have_is_inconclusive(own_rubric):
    (verdict,) = evaluate(own_rubric(name="my_shop_checks:half"), call({}))

    assert verdict.status is Status.INCONCLUSIVE
    assert "0.5" in verdict.rationale


def test_feedback_names_what_was_expected_and_found_gravest_first():
    selector = load_rubric("grocery_selector")
    gold = {"acceptable": ["p-1"], "forbidden": ["p-3"], "quantity": 2}
    verdicts = evaluate(selector, call(gold, choice="p-3", quantity=1))

    lines = feedback_for(verdicts, selector, "Sold out is out.").splitlines()

    assert [line.partition(".")[0] for line in lines] == [
        "Critical: Hard constraints kept",
        "Wrong: Acceptable choice",
        "Wrong: Quantity",
        "Rule: Sold out is out",
    ]
    assert 'choice: expected one of ["p-1"], found "p-3".' in lines[1]
    assert lines[0].endswith("before comparing anything else.")


def test_feedback_on_a_right_answer_says_to_keep_it():
    routing = load_rubric("grocery_routing")
    verdicts = evaluate(routing, call({"agent": "cart"}, agent="cart"))

    assert feedback_for(verdicts, routing, "") == "Correct: keep this."


def test_a_finding_without_a_value_is_no_failure_in_feedback():
    magic = load_rubric("magic")
    text = feedback_for(evaluate(magic, conversation(quantity=2)), magic, "Two means two.")

    assert text == "Correct: keep this.\nRule: Two means two."
    assert Finding.inconclusive("unknown").value is None
