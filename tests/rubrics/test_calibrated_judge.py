"""The calibrated judge: decides anew, and knows tiers by a word with a probability."""

from __future__ import annotations

import math

import pytest
from dspy.lm15 import TokenLogprob, TopLogprob

from cotune.rubrics.calibrated_judge import CalibratedJudge, two_valued, two_valued_rubric
from cotune.rubrics.decision_calibration import Decision
from cotune.rubrics.judge import Question
from cotune.rubrics.judges.inquiry import Strategy, judge_prompts
from cotune.rubrics.judges.word import WordJudge, WordSettings
from cotune.rubrics.label_need import labels_needed

from .judging import RUBRIC, PlannedJudge, conversation, entry, llm_judge, response

PROMPTS = judge_prompts(RUBRIC, Strategy.CRITERION, "word")


def word_judge(passes: float) -> tuple[WordJudge, PlannedJudge]:
    words = {"PASS": passes, "FAIL": 1.0 - passes}
    top = tuple(TopLogprob(word, math.log(each)) for word, each in words.items())
    model = PlannedJudge(
        response("PASS", logprobs=(TokenLogprob("PASS", top[0].logprob, top=top),))
    )
    return WordJudge(model, PROMPTS, WordSettings()), model


@pytest.mark.parametrize(("passes", "value"), [(0.55, 0.0), (0.65, 0.5), (0.75, 1.0)])
async def test_tiers_are_asked_as_best_and_worst_and_cut(passes: float, value: float):
    asked, model = word_judge(passes)
    judge = CalibratedJudge(asked, {"clear": Decision(cuts=(0.6, 0.7))})
    said = await judge.judge(conversation(), RUBRIC, [Question(RUBRIC.criterion("clear"))])
    (verdict,) = said.verdicts
    assert verdict.value == value
    assert said.by["rubric"] == RUBRIC.fingerprint
    assert "- PASS: Clear.\n- FAIL: No." in model.heard[0]


async def test_a_judge_without_probabilities_is_left_as_it_is():
    asked = llm_judge(PlannedJudge({"asks": entry("FAIL")}), Strategy.CRITERION)
    judge = CalibratedJudge(asked, {"asks": Decision(cuts=(0.1,))})
    said = await judge.judge(conversation(), RUBRIC, [Question(RUBRIC.criterion("asks"))])
    assert said.verdicts[0].value == 0.0


def test_other_thresholds_are_another_judge():
    asked, _ = word_judge(0.5)
    one, other = (CalibratedJudge(asked, {"asks": Decision(cuts=(cut,))}) for cut in (0.4, 0.5))
    assert one.identity != other.identity


def test_a_rubric_without_tiers_stays():
    rubric = two_valued_rubric(RUBRIC)
    assert rubric.criterion("clear").scale == "pass_fail"
    assert two_valued(RUBRIC.criterion("asks")) == RUBRIC.criterion("asks")


def test_a_narrower_interval_takes_more_labels():
    assert labels_needed(0.4) == 62
    assert labels_needed(0.2) == 246
    assert labels_needed(0.4, 0.8) < labels_needed(0.4)
