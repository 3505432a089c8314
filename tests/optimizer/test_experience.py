"""What was played with a text counts for every candidate that has it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.experience import Experience, Rate
from cotune.optimizer.rollout import Lesson, Rollout

from .cases import case, finding
from .tasks import FAULT

SEED = PromptBundle.of(Prompt("a", "A0"), Prompt("b", "B0"))
APPLIED = ("diet", "price")


def played(example: str, *blamed: tuple[str, str], applied: Sequence[str] = APPLIED) -> Rollout:
    """A rollout in which agents are blamed for criteria, as (agent, criterion)."""
    lessons = {
        agent: tuple(
            Lesson("in", "out", "", "", "wrong", name) for who, name in blamed if who == agent
        )
        for agent in dict.fromkeys(who for who, _ in blamed)
    }
    return Rollout(example, 0.5, lessons=lessons, applied=tuple(applied))


def test_rates_count_every_rollout_with_the_same_text_and_no_other() -> None:
    known = Experience()
    known.add(SEED, [played("1", ("a", "diet")), played("2")])
    known.add(SEED.with_texts({"b": "B1"}), [played("1", ("a", "diet"), ("b", "price"))])
    known.add(SEED.with_texts({"a": "A1"}), [played("1", ("a", "price"))])
    assert known.rates(SEED, ["a"]) == {"diet": Rate(2, 3), "price": Rate(0, 3)}
    assert known.rates(SEED, ["b"]) == {"diet": Rate(0, 3), "price": Rate(0, 3)}
    assert known.rates(SEED, ["a", "b"]) == {"diet": Rate(1, 2), "price": Rate(0, 2)}
    assert known.rates(SEED.with_texts({"a": "A1"}), ["a"])["price"] == Rate(1, 1)


def test_a_failure_that_two_share_counts_once_and_what_was_lost_counts_nowhere() -> None:
    known = Experience()
    known.add(SEED, [played("1", ("a", "diet"), ("b", "diet")), Rollout("2", None, fault=FAULT)])
    assert known.rates(SEED, ["a", "b"])["diet"] == Rate(1, 1)


def test_the_same_rollout_twice_counts_once() -> None:
    known = Experience()
    for _ in range(2):
        known.add(SEED, [played("1", ("a", "diet"))])
    assert known.rates(SEED, ["a"])["diet"] == Rate(1, 1)


def test_lessons_are_those_of_a_text_in_some_criteria() -> None:
    known = Experience()
    known.add(SEED, [played("1", ("a", "diet"), ("a", "price"), ("b", "diet"))])
    known.add(SEED.with_texts({"a": "A1"}), [played("2", ("a", "diet"))])
    assert [one.criterion for one in known.lessons(SEED, "a", ["diet"])] == ["diet"]
    assert known.lessons(SEED, "a", []) == []


def test_cases_hold_only_the_findings_that_are_asked_for() -> None:
    known = Experience()
    rollout = Rollout("1", 0.4, case=case(finding("a"), finding("b")))
    known.add(SEED, [rollout])
    known.add(SEED.with_texts({"a": "A1"}), [rollout])
    (found,) = known.cases(SEED, {"Cart completeness": ("a",)})
    assert len(found.findings) == 2
    assert known.cases(SEED, {"Something else": ("a",)}) == []


@pytest.mark.parametrize(
    ("failed", "applied", "mean"), [(0, 0, 0.5), (1, 1, 0.75), (9, 10, 9.5 / 11)]
)
def test_few_rollouts_say_little(failed: int, applied: int, mean: float) -> None:
    rate = Rate(failed, applied)
    assert rate.mean == pytest.approx(mean)
    assert rate.variance <= Rate(0, 0).variance


def test_what_was_played_and_applied_is_known_by_example() -> None:
    known = Experience()
    known.add(SEED, [played("1"), played("2", applied=["diet"])])
    known.add(SEED.with_texts({"a": "A1"}), [played("3")])
    assert known.examples_of(SEED) == {"1", "2"}
    assert known.applied() == {
        "1": {"diet", "price"}, "2": {"diet"}, "3": {"diet", "price"},
    }  # fmt: skip
