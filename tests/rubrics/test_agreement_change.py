"""Changes of agreement: paired, weighted and clustered on conversations."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import cohen_kappa_score

from cotune.rubrics.agreement_change import (
    change,
    concluded,
    flat_weights,
    level,
    shown_no_worse,
)
from cotune.rubrics.clustered_estimate import Estimate, Resampling
from cotune.rubrics.comparison import Measure, Pair
from cotune.rubrics.statistics import Conclusion
from cotune.rubrics.weighted_agreement import overall

from .annotating import PASS_FAIL, pairs
from .judging import RUBRIC

Bounds = tuple[float | None, float | None, float | None]
FEW = Resampling(resamples=500)


def judged(wrong: float, n: int = 80, seed: str = "x") -> list[Pair]:
    """A judge that is wrong at random in this share of the items."""
    generator = random.Random(f"{seed}/{wrong}")
    golds = [float(i % 2) for i in range(n)]
    return [
        Pair(f"c-{i}", gold, 1.0 - gold if generator.random() < wrong else gold)
        for i, gold in enumerate(golds)
    ]


def kappa(pairs: list[Pair]) -> float:
    return float(cohen_kappa_score([p.gold for p in pairs], [p.said for p in pairs]))


def test_a_change_is_the_difference_of_the_two_kappas():
    before, after = judged(0.4), judged(0.1)
    found = change({"a": before}, {"a": after}, {"a": PASS_FAIL}, {"a": 1.0}, Measure.KAPPA, FEW)
    assert found.value == pytest.approx(kappa(after) - kappa(before))
    assert found.low is not None
    assert found.low > 0


def test_the_pairing_makes_the_interval_narrow():
    before = judged(0.3)
    after = [*before[:-6], *(Pair(p.conversation, p.gold, p.gold) for p in before[-6:])]
    other = judged(0.25, seed="other")
    paired, unpaired = (
        change({"a": before}, {"a": each}, {"a": PASS_FAIL}, {"a": 1.0}, Measure.RAW, FEW)
        for each in (after, other)
    )
    assert paired.low is not None
    assert paired.high is not None
    assert unpaired.low is not None
    assert unpaired.high is not None
    assert paired.high - paired.low < 0.6 * (unpaired.high - unpaired.low)


def test_several_criteria_are_weighted_and_undefined_ones_do_not_count():
    constant = [Pair(f"c-{i}", 1.0, 1.0) for i in range(80)]
    before = {"a": judged(0.4), "b": judged(0.3), "c": constant}
    after = {"a": judged(0.1), "b": judged(0.2), "c": constant}
    scales = dict.fromkeys("abc", PASS_FAIL)
    weights = {"a": 3.0, "b": 1.0, "c": 5.0}
    found = change(before, after, scales, weights, Measure.KAPPA, FEW)
    gains = [kappa(after[name]) - kappa(before[name]) for name in "ab"]
    assert found.value == pytest.approx((3 * gains[0] + gains[1]) / 4)


def test_weights_are_the_rubrics_over_what_is_there():
    weights = flat_weights(RUBRIC, ("asks", "integrity"))
    assert weights == {"asks": 60.0, "integrity": 40.0}
    assert flat_weights(RUBRIC, ("asks", "clear")) == {"asks": 30.0, "clear": 30.0}


@pytest.mark.parametrize(
    ("kappa_", "raw", "so"),
    [
        ((0.2, 0.1, 0.3), (0.1, -0.1, 0.2), Conclusion.IMPROVED),
        ((0.2, -0.1, 0.3), (0.1, 0.05, 0.2), Conclusion.NO_EVIDENCE),
        ((-0.2, -0.3, -0.1), (0.1, 0.05, 0.2), Conclusion.WORSE),
        ((1.0, None, None), (0.5, 0.3, 0.7), Conclusion.IMPROVED),
        ((0.0, None, None), (0.0, None, None), Conclusion.NO_EVIDENCE),
        ((None, None, None), (0.5, 0.3, 0.7), None),
        ((0.0, None, None), (-0.6, -0.8, -0.4), Conclusion.NO_EVIDENCE),  # blind before and after
    ],
)
def test_what_may_be_said(kappa_: Bounds, raw: Bounds, so: Conclusion | None):
    first, second = (Estimate(value, low, high, 40, 40, "") for value, low, high in (kappa_, raw))
    assert concluded(first, second) is so


def test_a_judge_and_itself_differ_by_nothing():
    same = {"a": judged(0.2)}
    found = change(same, same, {"a": PASS_FAIL}, {"a": 1.0}, Measure.KAPPA, FEW)
    assert (found.value, found.low, found.high) == (0.0, None, None)


def test_two_judges_that_guess_alike_are_rarely_told_apart():
    told_apart = 0
    for seed in range(60):
        before, after = ({"a": judged(0.3, seed=f"{seed} {side}")} for side in "xy")
        found = change(before, after, {"a": PASS_FAIL}, {"a": 1.0}, Measure.KAPPA, FEW)
        told_apart += concluded(found, found) is not Conclusion.NO_EVIDENCE
    assert told_apart <= 9


def told(before: list[Pair], after: list[Pair]) -> Conclusion | None:
    kappa_, raw = (
        change({"a": before}, {"a": after}, {"a": PASS_FAIL}, {"a": 1.0}, measure, FEW)
        for measure in (Measure.KAPPA, Measure.RAW)
    )
    return concluded(kappa_, raw)


def test_missing_all_of_few_failures_by_luck_is_not_worse_than_blindness():
    gold = [0.0] * 8 + [1.0] * 32
    blind = pairs(gold, [1.0] * 40)
    unlucky = pairs(gold, [1.0] * 32 + [0.0] * 8)  # one in six who guess find none of eight
    assert told(blind, unlucky) is Conclusion.NO_EVIDENCE
    found = change({"a": blind}, {"a": unlucky}, {"a": PASS_FAIL}, {"a": 1.0}, Measure.KAPPA, FEW)
    assert found.value == pytest.approx(-0.25)
    assert found.high == 0.0
    assert "shuffled labels give as much in" in found.method
    good = pairs(gold, [*gold[:-2], 0.0, 0.0])
    assert told(blind, good) is Conclusion.IMPROVED


def test_labels_that_are_noise_are_hardly_ever_told_from_noise():
    wrong, runs = 0, 80
    for seed in range(runs):
        coin = random.Random(f"noise {seed}")
        gold = [float(coin.random() < 0.5) for _ in range(40)]
        before = [float(coin.random() < 0.5) for _ in gold]
        after = [1.0 - value if coin.random() < 0.1 else value for value in before]
        wrong += told(pairs(gold, before), pairs(gold, after)) is not Conclusion.NO_EVIDENCE
    assert wrong <= 6  # the corrected bootstrap is wrong in 11 % of such cases


def test_a_level_is_the_rubrics_weighted_agreement():
    pairs = {"asks": judged(0.3), "integrity": judged(0.1)}
    scales = dict.fromkeys(pairs, PASS_FAIL)
    weighted = overall(pairs, scales, RUBRIC, FEW)
    assert weighted is not None
    weights = flat_weights(RUBRIC, tuple(pairs))
    for measure, same in ((Measure.RAW, weighted.raw), (Measure.KAPPA, weighted.kappa)):
        found = level(pairs, scales, weights, measure, FEW)
        assert found.value == pytest.approx(same.value)
        assert (found.low, found.high) == pytest.approx((same.low, same.high))


@pytest.mark.parametrize(
    ("kappa_", "conversations", "shown"),
    [
        ((-0.05, -0.09, 0.0), 100, True),
        ((-0.05, -0.15, 0.05), 100, False),  # not shown to be worse either
        ((0.2, -0.12, 0.4), 20, False),
        ((0.0, None, None), 100, True),  # the same verdicts throughout
        ((0.0, None, None), 20, False),
        ((-1.0, None, None), 100, False),
        ((None, None, None), 100, False),
    ],
)
def test_good_enough_has_to_be_shown(kappa_: Bounds, conversations: int, shown: bool):
    value, low, high = kappa_
    found = Estimate(value, low, high, conversations, conversations, "")
    assert shown_no_worse(found, 0.1, 0.95) is shown
