"""The judge task: agreement with people as a score, and lessons from disagreements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from cotune.agents.budget import Limits
from cotune.agents.errors import UsageError
from cotune.optimizer.annotated_conversation import is_answerable, split_conversations
from cotune.optimizer.class_weights import ClassWeights
from cotune.optimizer.judge_tuning import JudgeTuning
from cotune.optimizer.observer import Silent
from cotune.optimizer.proposers.lessons import LessonsProposer
from cotune.optimizer.settings import EngineSettings, Search, Selection
from cotune.rubrics.gold import by_item, gold
from cotune.rubrics.verdict import Status

from .judged_talk import (
    RUBRIC,
    SCALES,
    THIRDS,
    Bench,
    annotated,
    bench,
    conversations,
    is_kept,
)


def rare(number: int) -> bool:
    """Nine of ten pass."""
    return number % 10 != 0


@pytest.mark.parametrize("says", [0.0, 1.0])
def test_a_constant_judge_loses_half_whatever_it_says(says: float):
    found = conversations(annotated(40, rare), rare)
    weights = ClassWeights.of(found)
    lost = [
        sum(weights.of_label(label) * (label.value != says) for label in one.labels)
        for one in found
    ]
    mean = fmean(1.0 - loss / weights.heaviest for loss in lost)
    balanced = 0.5
    assert mean == pytest.approx(1.0 - (1.0 - balanced) / (len(found) * weights.heaviest))


async def test_the_score_and_the_lesson_of_a_disagreement(tmp_path: Path):
    with bench(tmp_path, conversations(annotated(40, is_kept))) as tools:
        task = tools.task
        good = next(one for one in task.splits.train if is_kept(int(one.id[2:])))
        wrong = next(one for one in task.splits.train if not is_kept(int(one.id[2:])))
        right, rollout = [await task.rollout(one, task.seed, 0) for one in (good, wrong)]
    assert rollout.score == 0.0
    assert rollout.objectives == {"kept": 0.0}
    (lesson,) = rollout.lessons["kept"]
    assert "people say FAIL (100% of 2), the judge said PASS" in lesson.feedback
    assert '"There was no parcel."' in lesson.feedback
    assert lesson.rule == "kept is FAIL: There was no parcel."
    assert lesson.expected == '{"value": "FAIL"}'
    assert "No parcel" in lesson.inputs
    assert right.score == 1.0
    assert not right.lessons["kept"][0].failed


async def test_an_unchanged_prompt_is_not_asked_again(tmp_path: Path):
    with bench(tmp_path, conversations(annotated(40, is_kept, ("kept", "polite")))) as tools:
        task, example = tools.task, tools.task.splits.val[0]
        await task.rollout(example, task.seed, 0)
        assert tools.model.asked == 2
        changed = task.seed.with_texts({"kept": "Be strict."})
        await task.rollout(example, changed, 0)
        assert tools.model.asked == 3
        assert len(task.verdicts(example, changed)) == 2


def test_splits_keep_labels_balanced_and_scenarios_together():
    found = conversations(annotated(60, is_kept))
    splits = split_conversations(found, THIRDS, 0, 0.0)
    for part in splits.named().values():
        shares = [one.labels[0].value for one in part]
        assert fmean(value or 0.0 for value in shares) == pytest.approx(0.5, abs=0.1)
    again = split_conversations(found, THIRDS, 0, 0.0)
    assert [one.id for one in again.test] == [one.id for one in splits.test]
    other = split_conversations(found, THIRDS, 1, 0.0)
    assert [one.id for one in other.test] != [one.id for one in splits.test]


def test_unclear_labels_stay_in_the_test_only():
    said = annotated(40, is_kept)
    split = [each.model_copy(update={"value": 1.0}) if each.annotator == "ada" else each
             for each in said]  # fmt: skip
    splits = split_conversations(conversations(split), THIRDS, 0, 0.0)
    assert all(len(one.labels[0].options) == 1 for one in [*splits.train, *splits.val])
    assert any(len(one.labels[0].options) == 2 for one in splits.test)


def test_two_scenarios_cannot_be_split():
    with pytest.raises(UsageError, match=r"2 scenarios.*three are the least"):
        split_conversations(conversations(annotated(2, is_kept)), THIRDS, 0, 0.0)


def test_what_no_judge_is_asked_is_no_label():
    (label, *_) = gold(by_item(annotated(1, is_kept), RUBRIC), SCALES)
    assert is_answerable(label, RUBRIC, 1)
    assert not is_answerable(replace(label, options=(), status=Status.INCONCLUSIVE), RUBRIC, 1)
    elsewhere = replace(label, item=replace(label.item, criterion="unknown"))
    assert not is_answerable(elsewhere, RUBRIC, 1)


def tuning(tools: Bench, limits: Limits) -> JudgeTuning:
    settings = EngineSettings(
        limits=limits,
        search=Search(minibatch=6, max_prompt_length=12_000, patience=3),
        selection=Selection(finalists=1),
    )
    proposer = LessonsProposer(8, 12, (6, 0))
    return JudgeTuning(
        tools.task, settings, proposer, tools.journal, tools.ledger, tools.budget, Silent()
    )


async def test_tuning_finds_the_better_prompt_and_replays_for_nothing(tmp_path: Path):
    found = conversations(annotated(40, is_kept))
    limits = Limits(rollouts=200)
    with bench(tmp_path, found, 200) as tools:
        tuned = await tuning(tools, limits).run()
        test = tools.task.splits.test
        after = [await tools.task.rollout(one, tuned.prompts, 0) for one in test]
    assert tuned.gains["kept"] > 0
    assert "There was no parcel." in tuned.prompts["kept"].text
    assert fmean(one.score or 0.0 for one in after) == 1.0
    with bench(tmp_path, found, 200) as again:
        replayed = await tuning(again, limits).run()
    assert replayed.prompts == tuned.prompts
    assert again.model.asked == 0
