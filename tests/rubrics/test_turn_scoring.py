"""Verdicts per turn: aggregation, and SERA's totals worked out by hand."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.rubrics.aggregation import aggregate
from cotune.rubrics.criterion import Aggregate
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.scoring import Gate, Score, score
from cotune.rubrics.verdict import Status, Verdict

SERA = load_rubric("sera")
TIERS = (1.0, 0.75, 0.5, 0.0)
TURNS = 3
NA, OPEN = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
Said = float | Status


def turns(criterion: str, *said: Said) -> list[Verdict]:
    """Return one verdict per turn."""
    return [
        Verdict(criterion, None, each, "", turn=turn)
        if isinstance(each, Status)
        else Verdict(criterion, each, Status.SCORED, "", turn=turn)
        for turn, each in enumerate(said)
    ]


def of(**said: tuple[Said, ...]) -> list[Verdict]:
    """Return verdicts on SERA; criteria that are not named do not apply to any turn."""
    silent = (NA,) * TURNS
    return [v for c in SERA.criteria for v in turns(c.id, *said.get(c.id, silent))]


EXAMPLE: dict[str, tuple[Said, ...]] = {
    "pii_echo": (NA, 1.0, 0.75),  # minimum 0.75
    "brand_voice_tone": (1.0, 0.75, 1.0),  # minimum 0.75
    "conversation_structure": (1.0, 1.0, 0.5),  # minimum 0.5
    "answer_relevance": (1.0, 0.5, 0.75),  # mean 0.75
    "tool_selection": (1.0, 1.0, 0.0),  # minimum 0
    "correction_recovery": (NA, NA, 1.0),  # minimum 1
}


def test_a_hand_worked_conversation():
    result = score(SERA, of(**EXAMPLE))

    assert result.criteria["answer_relevance"].value == pytest.approx(0.75)
    assert dict(result.domains) == pytest.approx(
        {"safety": 0.75, "compliance": (0.75 + 0.5) / 2, "agent_quality": (0.75 + 0 + 1) / 3}
    )
    assert result.score == pytest.approx((20 * 0.75 + 40 * 0.625 + 40 * 1.75 / 3) / 100)
    assert (result.gate, result.passed) == (Gate.HELD, True)
    assert result.objective == result.score
    assert (result.not_applicable, result.inconclusive) == (15, 0)


def test_one_turn_below_the_passing_tier_of_safety_fails_the_whole():
    result = score(SERA, of(**{**EXAMPLE, "pii_echo": (NA, 0.5, 1.0)}))

    assert result.critical_failures == ("pii_echo",)
    assert (result.gate, result.passed, result.objective) == (Gate.FAILED, False, 0.0)
    assert result.score == pytest.approx((20 * 0.5 + 40 * 0.625 + 40 * 1.75 / 3) / 100)


def test_a_low_tier_elsewhere_fails_nothing():
    result = score(SERA, of(**EXAMPLE))

    assert result.criteria["tool_selection"].value == 0.0
    assert result.critical_failures == ()


def test_a_turn_that_could_not_be_judged_is_no_pass_of_the_gate():
    result = score(SERA, of(**{**EXAMPLE, "pii_echo": (NA, OPEN, 1.0)}))

    assert (result.gate, result.passed) == (Gate.UNDECIDED, None)
    assert result.criteria["pii_echo"].value == 1.0
    assert result.criteria["pii_echo"].open_share == 0.5
    # safety, weight 20 of 100: half of its only applicable point
    assert result.undecided == pytest.approx(0.1)
    assert result.score is not None


def test_sera_is_what_was_published():
    count = Counter((c.domain, c.aggregate) for c in SERA.criteria)
    worst = [
        c.name
        for c in SERA.criteria
        if c.domain == "agent_quality" and c.aggregate is Aggregate.MINIMUM
    ]

    assert count == {
        ("safety", Aggregate.MINIMUM): 4,
        ("compliance", Aggregate.MINIMUM): 8,
        ("agent_quality", Aggregate.MINIMUM): 2,
        ("agent_quality", Aggregate.MEAN): 7,
    }
    assert worst == ["Tool Selection", "Correction Recovery"]
    assert all(c.per_turn and c.values == TIERS and c.judged for c in SERA.criteria)
    assert [c.domain for c in SERA.criteria if c.critical] == ["safety"] * 4


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([], "found the turns \\[\\]"),
        ([*turns("pii_echo", 1.0), *turns("pii_echo", 0.5)], "\\[0, 0\\]"),
        ([Verdict("pii_echo", 1.0, Status.SCORED, "")], "\\[None\\]"),
        ([*turns("pii_echo", 1.0), Verdict("pii_echo", None, NA, "")], "\\[0, None\\]"),
    ],
)
def test_each_turn_has_one_verdict(verdicts, said):
    with pytest.raises(ValueError, match=said):
        aggregate(SERA.criterion("pii_echo"), verdicts)


@pytest.mark.parametrize("status", [NA, OPEN])
def test_one_verdict_without_a_turn_may_say_that_nothing_is_known(status):
    reached = aggregate(SERA.criterion("pii_echo"), [Verdict("pii_echo", None, status, "")])

    assert (reached.status, reached.value) == (status, None)


said = st.one_of(st.sampled_from(TIERS), st.sampled_from([NA, OPEN]))
conversations = st.fixed_dictionaries(
    {}, optional={c.id: st.tuples(*[said] * TURNS) for c in SERA.criteria}
)


def numbers(result: Score) -> list[float]:
    values = [result.score, result.objective, result.undecided, *result.domains.values()]
    values += [each.value for each in result.criteria.values()]
    return [value for value in values if value is not None]


@settings(deadline=None)
@given(conversations)
def test_scores_stay_in_bounds(conversation):
    result = score(SERA, of(**conversation))

    assert all(0.0 <= number <= 1.0 for number in numbers(result))
    assert (result.score is None) is (result.objective is None)


@settings(deadline=None)
@given(conversations, st.data())
def test_a_better_turn_never_lowers_a_score(conversation, data):
    places = [
        (name, turn)
        for name, given_ in conversation.items()
        for turn, value in enumerate(given_)
        if not isinstance(value, Status)
    ]
    if not places:
        return
    name, turn = data.draw(st.sampled_from(places))
    before = conversation[name]
    better = data.draw(st.sampled_from([tier for tier in TIERS if tier >= before[turn]]))
    changed = {**conversation, name: (*before[:turn], better, *before[turn + 1 :])}

    low, high = score(SERA, of(**conversation)), score(SERA, of(**changed))

    assert (low.score is None) is (high.score is None)
    assert (high.score or 0.0) >= (low.score or 0.0)
    assert (high.objective or 0.0) >= (low.objective or 0.0)
    assert (high.passed, low.passed) not in {(False, True), (False, None)}
    assert high.undecided == low.undecided


@settings(deadline=None)
@given(conversations, st.randoms(use_true_random=False))
def test_the_order_of_verdicts_does_not_matter(conversation, rng: random.Random):
    verdicts = of(**conversation)

    assert score(SERA, rng.sample(verdicts, len(verdicts))) == score(SERA, verdicts)


@settings(deadline=None)
@given(conversations, st.sampled_from(TIERS))
def test_what_is_left_out_moves_no_uniform_score(conversation, tier):
    uniform = {
        name: tuple(each if isinstance(each, Status) else tier for each in given_)
        for name, given_ in conversation.items()
    }
    result = score(SERA, of(**uniform))

    assert result.score is None or result.score == pytest.approx(tier)
