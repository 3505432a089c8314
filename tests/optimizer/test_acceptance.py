from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.agents.worked_examples import WorkedExample, with_examples
from cotune.optimizer.acceptance import decide, unquoted
from cotune.optimizer.rollout import Lesson, Rollout

from .tasks import rollouts

_SCORES = st.lists(st.tuples(*[st.none() | st.floats(0, 1)] * 2), min_size=1, max_size=10)


def test_a_higher_mean_is_accepted() -> None:
    decision = decide(rollouts(0.0, 1.0), rollouts(1.0, 1.0))
    assert decision.accepted
    assert (decision.before, decision.after, decision.gain) == (0.5, 1.0, 0.5)
    assert decision.reason == "better (0.500 → 1.000 on 2 examples)"


@pytest.mark.parametrize("after", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_the_same_or_a_lower_mean_is_not(after: tuple[float, float]) -> None:
    decision = decide(rollouts(0.0, 1.0), rollouts(*after))
    assert not decision.accepted
    assert "not better" in decision.reason


def test_the_order_of_the_same_scores_is_no_gain() -> None:
    decision = decide(rollouts(0.3, 0.2, 0.1), rollouts(0.1, 0.2, 0.3))
    assert decision.gain == 0
    assert not decision.accepted


def test_the_gain_must_exceed_the_least_gain() -> None:
    before, after = rollouts(0.5, 0.5), rollouts(0.75, 0.75)
    assert decide(before, after, 0.2).accepted
    assert not decide(before, after, 0.25).accepted


def test_a_critical_regression_is_rejected_whatever_the_mean() -> None:
    before = rollouts(0.0, 0.0, 0.0)
    after = rollouts(1.0, 1.0, 0.9, critical={2: "no_allergen"})
    decision = decide(before, after)
    assert not decision.accepted
    assert decision.reason.startswith("critical criterion no_allergen fails more often")
    assert decision.gain == pytest.approx(2.9 / 3)


def test_one_critical_criterion_does_not_make_up_for_another() -> None:
    before = rollouts(0.0, 0.0, 0.0, critical={0: "a", 1: "a"})
    after = rollouts(1.0, 1.0, 1.0, critical={0: "b"})
    assert "b fails more often" in decide(before, after).reason


def test_critical_failures_that_move_or_get_fewer_are_no_regression() -> None:
    before = rollouts(0.0, 0.0, 0.0, critical={0: "a", 1: "a"})
    assert decide(before, rollouts(1.0, 0.0, 0.0, critical={2: "a", 1: "a"})).accepted
    assert decide(before, rollouts(1.0, 1.0, 0.0, critical={2: "a"})).accepted


def test_a_critical_failure_beside_a_fault_counts_on_neither_side() -> None:
    before = rollouts(None, 0.0, 0.0, 0.0, 0.0)
    after = rollouts(1.0, 0.5, 0.5, 0.5, 0.5, critical={0: "a"})
    decision = decide(before, after)
    assert decision.accepted
    assert (decision.before, decision.after) == (0.0, 0.5)


def test_without_a_pair_nothing_is_accepted() -> None:
    decision = decide(rollouts(None, 0.0), rollouts(1.0, None))
    assert not decision.accepted
    assert decision.gain == 0
    assert decision.reason == "faults left 0 of 2 pairs, too few to compare"


@pytest.mark.parametrize(("lost", "accepted"), [(2, True), (3, False)])
def test_a_child_that_faults_hit_too_often_is_not_accepted(lost: int, accepted: bool) -> None:
    decision = decide(rollouts(*[0.0] * 10), rollouts(*[None] * lost, *[1.0] * (10 - lost)))
    assert decision.accepted == accepted
    assert ("too few to compare" in decision.reason) != accepted


@given(_SCORES)
def test_what_a_fault_hit_changes_nothing(scores: list[tuple[float | None, float | None]]) -> None:
    before, after = ([pair[side] for pair in scores] for side in (0, 1))
    decision = decide(rollouts(*before), rollouts(*after))
    whole = [pair for pair in scores if None not in pair]
    if 5 * len(whole) < 4 * len(scores):
        assert "too few to compare" in decision.reason
        return
    alone = decide(rollouts(*(a for a, _ in whole)), rollouts(*(b for _, b in whole)))
    assert decision == alone


def _told(*numbers: int) -> PromptBundle:
    quoted = [WorkedExample(f"call {number}", "{}") for number in numbers]
    return PromptBundle.of(Prompt("a", "No examples."), Prompt("b", with_examples("Help.", quoted)))


def _learned(count: int, score: float) -> list[Rollout]:
    return [
        Rollout(f"{number}", score, lessons={"b": (Lesson(f"call {number}", "", "{}", "", "bad"),)})
        for number in range(count)
    ]


def test_what_parent_or_child_quotes_is_left_out_on_both_sides() -> None:
    kept = unquoted(_learned(5, 0.0), _learned(5, 1.0), _told(1), _told(3, 1))
    for side in kept:
        assert [rollout.example for rollout in side] == ["0", "2", "4"]
    assert {rollout.score for rollout in kept[0]} == {0.0}
    assert {rollout.score for rollout in kept[1]} == {1.0}


def test_without_quotes_or_lessons_nothing_is_left_out() -> None:
    before, after = _learned(3, 0.0), _learned(3, 1.0)
    assert unquoted(before, after, _told(), _told(7)) == (before, after)
    before, after = rollouts(0.0, 0.0), rollouts(1.0, 1.0)
    assert unquoted(before, after, _told(0, 1)) == (before, after)


def test_a_prompt_that_quotes_every_example_is_not_accepted() -> None:
    decision = decide(*unquoted(_learned(2, 0.0), _learned(2, 1.0), _told(0, 1)))
    assert not decision.accepted
    assert decision.reason == "the prompt quotes every example; none is left to compare"
    assert decision.gain == 0
