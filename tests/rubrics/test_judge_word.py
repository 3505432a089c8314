"""The judge of one word: what the probabilities of the words make of a criterion."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from dspy.lm15 import TokenLogprob, TopLogprob

from cotune.agents.errors import UsageError
from cotune.rubrics.judge import judged_questions
from cotune.rubrics.judges.inquiry import Strategy, judge_prompts
from cotune.rubrics.judges.rendering import Detail
from cotune.rubrics.judges.word import WordJudge, WordSettings, word_shares
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.verdict import Status

from .judging import RUBRIC, PlannedJudge, conversation, response

ASKS = judged_questions(RUBRIC, conversation())[:1]
WORDS = ("PASS", "FAIL", "NOT_APPLICABLE")


def token(**probabilities: float) -> TokenLogprob:
    """The first token of an answer, with its alternatives; underscores are spaces."""
    top = tuple(
        TopLogprob(name.replace("_", " "), math.log(each)) for name, each in probabilities.items()
    )
    return TokenLogprob(top[0].token, top[0].logprob, top=top)


PROMPTS = judge_prompts(RUBRIC, Strategy.CRITERION, "word")


def judge(settings: WordSettings | None = None, /, **probabilities: float) -> WordJudge:
    model = PlannedJudge(response("PASS", logprobs=(token(**probabilities),)))
    return WordJudge(model, PROMPTS, settings or WordSettings())


def sometimes() -> Rubric:
    """The rubric, with a first criterion that does not always apply."""
    first, *others = RUBRIC.criteria
    rare = first.model_copy(update={"applies": "Something is unclear."})
    return RUBRIC.model_copy(update={"criteria": (rare, *others)})


@pytest.mark.parametrize(
    ("probabilities", "shares"),
    [
        ({"PASS": 0.6, "FAIL": 0.2}, (0.75, 0.25, 0.0)),
        ({"PASS": 0.3, "Pass": 0.2, "_PASS": 0.1, "FAIL": 0.2, "YES": 0.2}, (0.75, 0.25, 0.0)),
        ({"F": 0.5, "NOT": 0.5}, (0.0, 0.5, 0.5)),
    ],
)
def test_shares(probabilities: dict[str, float], shares: tuple[float, ...]):
    found = word_shares(token(**probabilities), WORDS)
    assert [found[word] for word in WORDS] == pytest.approx(shares)


def test_a_token_that_begins_no_word_has_no_share():
    assert word_shares(token(YES=0.9, _=0.1), WORDS) == {}


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_probability_that_is_none_counts_for_nothing(broken: float):
    top = (TopLogprob("PASS", broken), TopLogprob("FAIL", math.log(0.2)))
    assert word_shares(TokenLogprob("PASS", broken, top=top), WORDS)["FAIL"] == 1.0
    assert word_shares(TokenLogprob("PASS", broken, top=top[:1]), WORDS) == {}
    rounded = TokenLogprob("PASS", 1e-6, top=(TopLogprob("PASS", 800.0),))
    assert word_shares(rounded, WORDS)["PASS"] == 1.0


@pytest.mark.parametrize(
    ("probabilities", "value", "confidence", "passes"),
    [
        ({"PASS": 0.6, "FAIL": 0.2}, 1.0, 0.75, 0.75),
        ({"PASS": 0.1, "FAIL": 0.9}, 0.0, 0.9, 0.1),
        ({"FAIL": 1.0}, 0.0, 1.0, 0.0),
    ],
)
async def test_the_likelier_word_is_the_verdict(
    probabilities: dict[str, float], value: float, confidence: float, passes: float
):
    [opinion] = await judge(**probabilities).opinions(conversation(), RUBRIC, ASKS)
    assert opinion.verdict.value == value
    assert opinion.confidence == pytest.approx(confidence)
    assert opinion.pass_probability == pytest.approx(passes)


@pytest.mark.parametrize(
    ("threshold", "value", "confidence"),
    [(0.5, 1.0, 0.6), (0.6, 1.0, 0.5), (0.61, 0.0, None), (0.9, 0.0, 0.857), (0.1, 1.0, 0.931)],
)
async def test_from_which_probability_on_it_passes_can_be_set_for_each_criterion(
    threshold: float, value: float, confidence: float | None
):
    leaning = WordSettings(thresholds={"asks": threshold, "integrity": 0.99})
    [opinion] = await judge(leaning, PASS=0.6, FAIL=0.4).opinions(conversation(), RUBRIC, ASKS)
    assert opinion.verdict.value == value
    assert opinion.pass_probability == pytest.approx(0.6), "what was seen stays as it is"
    assert opinion.confidence >= 0.5
    assert confidence is None or opinion.confidence == pytest.approx(confidence, abs=1e-3)


async def test_certainty_passes_any_threshold():
    strict = WordSettings(thresholds={"asks": 0.999})
    [opinion] = await judge(strict, PASS=1.0).opinions(conversation(), RUBRIC, ASKS)
    assert (opinion.verdict.value, opinion.confidence) == (1.0, 1.0)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0, math.nan])
def test_a_threshold_that_decides_everything_is_refused(threshold: float):
    with pytest.raises(ValueError, match="asks"):
        WordSettings(thresholds={"asks": threshold})


def test_another_threshold_is_another_judge():
    assert judge(PASS=1).identity != judge(WordSettings(thresholds={"asks": 0.7}), PASS=1).identity


async def test_a_criterion_that_does_not_always_apply_can_be_left_out():
    rubric = sometimes()
    questions = judged_questions(rubric, conversation())[:1]
    [opinion] = await judge(NOT=0.6, PASS=0.4).opinions(conversation(), rubric, questions)
    assert opinion.verdict.status is Status.NOT_APPLICABLE
    [opinion] = await judge(NOT=0.4, FAIL=0.6).opinions(conversation(), rubric, questions)
    assert (opinion.verdict.value, opinion.pass_probability) == (0.0, 0.0)


async def test_none_of_the_words_is_inconclusive():
    verdicts = await judge(Yes=1.0).judge(conversation(), RUBRIC, ASKS)
    assert [each.status for each in verdicts.verdicts] == [Status.INCONCLUSIVE]
    assert set(verdicts.by) == {"model", "prompts", "rubric"}


async def test_a_model_without_probabilities_and_a_criterion_with_tiers_are_refused():
    silent = WordJudge(PlannedJudge("PASS"), PROMPTS, WordSettings())
    with pytest.raises(UsageError, match="gives no probabilities"):
        await silent.judge(conversation(), RUBRIC, ASKS)
    with pytest.raises(UsageError, match="'clear' has tiers"):
        await silent.judge(conversation(), RUBRIC)


async def test_the_record_holds_what_was_said_unless_all_is_asked_for():
    spoken = judge(PASS=1.0)
    whole = replace(spoken, settings=WordSettings(detail=Detail.ALL))
    for each in (spoken, whole):
        await each.opinions(conversation(), RUBRIC, ASKS)
    assert isinstance(spoken.lm, PlannedJudge)
    assert ["tool result" in heard for heard in spoken.lm.heard] == [False, True]
    assert spoken.identity != whole.identity


async def test_each_turn_is_a_question_of_its_own():
    turns = judged_questions(RUBRIC, conversation())[2:]
    verdicts = (await judge(PASS=1.0).judge(conversation(), RUBRIC, turns)).verdicts
    assert [(each.turn, each.value, each.agent) for each in verdicts] == [
        (0, 1.0, "responder"),
        (1, 1.0, "responder"),
    ]


async def test_only_what_is_needed_to_choose_is_said_of_a_criterion():
    always, rare = judge(PASS=1.0), judge(PASS=1.0)
    await always.opinions(conversation(), RUBRIC, ASKS)
    await rare.opinions(
        conversation(), sometimes(), judged_questions(sometimes(), conversation())[:1]
    )
    said = [
        each.lm.heard[0].partition("criterion asks")[2]
        for each in (always, rare)
        if isinstance(each.lm, PlannedJudge)
    ]
    assert said[0] == ": Asks or confirms\n- PASS: It asks.\n- FAIL: It guesses."
    assert "- applies: Something is unclear.\n" in said[1]
