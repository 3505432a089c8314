"""The lessons proposer: merges, deduplicates and caps, and never loses a person's words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.agents.worked_examples import HEADING, WorkedExample
from cotune.optimizer.proposers.lesson_prompt import LessonPrompt
from cotune.optimizer.proposers.lessons import LessonsProposer
from cotune.optimizer.proposers.proposer import Assignment, TurnedDown
from cotune.optimizer.rollout import Lesson

from .tasks import Model

_WORDS = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=8)
_SENTENCE = st.lists(_WORDS, min_size=1, max_size=5).map(" ".join)
_EXAMPLE = st.builds(
    WorkedExample, st.lists(_SENTENCE, min_size=1, max_size=3).map("\n".join), _SENTENCE
).filter(lambda example: example.is_writable)
_PROMPTS = st.builds(
    LessonPrompt,
    st.lists(_SENTENCE, max_size=3).map("\n".join),
    st.lists(_SENTENCE, max_size=4).map(tuple),
    st.lists(_EXAMPLE, max_size=4).map(tuple),
)


def lesson(number: int = 0, rule: str = "", expected: str = "{}", feedback: str = "bad") -> Lesson:
    return Lesson(f"call {number}", "out", expected, rule, feedback)


def assigned(text: str, lessons: Sequence[Lesson], max_length: int) -> Assignment:
    prompt = Prompt("a", text)
    return Assignment({"a": prompt}, {"a": lessons}, (), max_length, PromptBundle.of(prompt))


def propose(text: str, *lessons: Lesson, max_length: int = 6000, **caps: Any) -> LessonPrompt:
    assignment = assigned(text, lessons, max_length)
    texts = asyncio.run(LessonsProposer(**caps).propose(assignment)).texts
    return LessonPrompt.parse(texts["a"])


@given(_PROMPTS)
def test_a_prompt_reads_back_as_it_was_written(prompt: LessonPrompt) -> None:
    assert LessonPrompt.parse(prompt.render()) == prompt


@given(
    st.lists(
        st.sampled_from(["## Rules", HEADING, "- a rule", "Input: x", "Output: y", "text", "", " "])
    )
)
def test_reading_and_writing_loses_no_words_whatever_a_person_wrote(lines: list[str]) -> None:
    prompt = "\n".join(lines)
    read = LessonPrompt.parse(prompt)
    assert read.render().split() == prompt.split()
    assert LessonPrompt.parse(read.render()) == read


def test_text_after_the_rules_of_a_person_stays() -> None:
    prompt = "Route.\n\n## Rules\n- one\n\n## Tone\nBe kind."
    learned = propose(prompt, lesson(rule="two"))
    assert learned.text == prompt
    assert learned.rules == ("two",)


def test_rules_come_most_frequent_first_and_once() -> None:
    failed = [lesson(1, "rare"), lesson(2, "often"), lesson(3, "often "), lesson(4, "known")]
    learned = propose("Route.\n\n## Rules\n- known", *failed)
    assert learned.text == "Route."
    assert learned.rules == ("known", "often", "rare")


def test_a_rule_over_several_lines_becomes_one() -> None:
    assert propose("Route.", lesson(rule="one\n- two\n\n## Rules")).rules == ("one - two ## Rules",)


def test_rules_are_capped_and_those_that_are_there_stay() -> None:
    own = [f"own {number}" for number in range(5)]
    prompt = LessonPrompt("Route.", tuple(own)).render()
    assert propose(prompt, lesson(rule="new"), max_rules=3).rules == tuple(own)
    assert propose(prompt, lesson(1, "new"), lesson(2, "newer"), max_rules=6).rules == (*own, "new")


def test_corrected_mistakes_become_examples_once_and_the_oldest_leave_first() -> None:
    known = WorkedExample("call 0", "{}")
    prompt = LessonPrompt("Route.", (), (known,)).render()
    failed = [lesson(0), lesson(1), lesson(1), lesson(2)]
    assert [one.inputs for one in propose(prompt, *failed).examples] == [
        "call 0",
        "call 1",
        "call 2",
    ]
    capped = propose(prompt, *failed, max_examples=2)
    assert [one.inputs for one in capped.examples] == ["call 1", "call 2"]
    once = propose(prompt, *failed, examples_at_once=(1,))
    assert [one.inputs for one in once.examples] == ["call 0", "call 1"]


@pytest.mark.parametrize(
    ("failures", "right", "corrected", "confirmed"),
    [(1, 0, 0, 0), (2, 0, 1, 0), (5, 9, 3, 6), (30, 9, 20, 4), (40, 9, 24, 0), (3, 60, 2, 22)],
)
def test_at_most_two_thirds_are_quoted_mistakes_before_right_answers(
    failures: int, right: int, corrected: int, confirmed: int
) -> None:
    failed = [lesson(number, f"rule {number}") for number in range(failures)]
    passed = [lesson(number, "no rule", feedback="") for number in range(100, 100 + right)]
    learned = propose("Route.", *failed, *passed, max_rules=40)
    assert learned.rules == tuple(f"rule {number}" for number in range(failures))
    wrong = {one.inputs for one in failed}
    assert sum(one.inputs in wrong for one in learned.examples) == corrected
    assert len(learned.examples) == corrected + confirmed


@pytest.mark.parametrize(
    ("rejections", "rule", "examples"), [(0, "r", 2), (1, "r", 0), (2, "r", 2), (1, "", 2)]
)
def test_after_a_rejection_rules_come_alone_where_there_are_any(
    rejections: int, rule: str, examples: int
) -> None:
    lessons = [lesson(number, rule) for number in range(3)]
    tried = [TurnedDown({"a": "worse"}, "not better"), TurnedDown({"b": "other"}, "not better")]
    assignment = replace(
        assigned("Route.", lessons, 6000), rejected=[*tried, *tried[:1]][: 2 * rejections]
    )
    proposer = LessonsProposer(examples_at_once=(2, 0))
    learned = LessonPrompt.parse(asyncio.run(proposer.propose(assignment)).texts["a"])
    assert (len(learned.rules), len(learned.examples)) == (len(rule), examples)


def test_right_answers_only_fill_the_room_that_is_left() -> None:
    own = tuple(WorkedExample(f"own {number}", "{}") for number in range(3))
    prompt = LessonPrompt("Route.", (), own).render()
    lessons = [lesson(1), lesson(2), *(lesson(number, feedback="") for number in range(3, 9))]
    learned = [one.inputs for one in propose(prompt, *lessons, max_examples=5).examples]
    assert learned == ["own 0", "own 1", "own 2", "call 1", "call 3"]
    full = [one.inputs for one in propose(prompt, *lessons, max_examples=3).examples]
    assert full == ["own 1", "own 2", "call 1"]
    room = len(prompt) + len("\nInput: call 1\nOutput: {}")
    short = [one.inputs for one in propose(prompt, *lessons, max_length=room).examples]
    assert short == ["own 0", "own 1", "own 2", "call 1"]


def test_every_expected_output_comes_once_before_any_comes_twice() -> None:
    failed = [lesson(number, expected=expected) for number, expected in enumerate("xxyx")]
    learned = propose("Route.", *failed)
    assert [one.output for one in learned.examples] == ["x", "y"]


def test_nothing_is_proposed_without_a_failure() -> None:
    passed = lesson(1, "kept", feedback="")
    assignment = assigned("Route.", [passed], 6000)
    assert asyncio.run(LessonsProposer().propose(assignment)).texts == {}


def test_what_is_not_known_or_not_writable_is_no_example() -> None:
    odd = Lesson("a\nOutput: b", "out", "{}", "", "bad")
    assert propose("Route.", lesson(1, expected=""), odd).examples == ()


@given(st.integers(40, 400), st.lists(st.integers(0, 30), max_size=20))
def test_examples_leave_until_the_prompt_fits(max_length: int, numbers: list[int]) -> None:
    failed = [lesson(number, expected="x" * number) for number in [1, *numbers]]
    learned = propose("Route this.", *failed, max_length=max_length)
    assert learned.text == "Route this."
    assert len(learned.render()) <= max_length


@pytest.mark.parametrize("seed", [0, 1])
async def test_no_val_or_test_text_ever_gets_into_a_prompt(seed: int, tmp_path: Path) -> None:
    model = Model()
    task = model.routing()
    result = await model.run(tmp_path / "journal", task=task, seed=seed)
    prompts = [one.bundle["router"].text for one in result.pool.candidates]
    assert any(HEADING in prompt for prompt in prompts)
    train = {example.inputs["message"] for example in task.splits.train}
    for prompt in prompts:
        assert {example.inputs for example in LessonPrompt.parse(prompt).examples} <= train
        for example in [*task.splits.val, *task.splits.test]:
            assert example.inputs["message"] not in prompt


def test_the_diagnosis_counts_what_was_wrong_the_most_frequent_first() -> None:
    said = ["no store", "no size", "no store", ""]
    lessons = [lesson(number, feedback=each) for number, each in enumerate(said)]
    draft = asyncio.run(LessonsProposer().propose(assigned("Answer.", lessons, 6000)))
    assert draft.diagnosis == "a: 3 of 4 answers were wrong.\n2 × no store\n1 × no size"
