"""What a judge gained is told with an interval that noise does not fool."""

from __future__ import annotations

import random

import pytest

from cotune.rubrics.clustered_estimate import Resampling
from cotune.rubrics.comparison import Measure, compare
from cotune.rubrics.paired_comparison import paired_differences

from .annotating import PASS_FAIL, pairs

QUICK = Resampling(resamples=300)


def judged(gold: list[float], right: float, seed: int) -> list[float]:
    generator = random.Random(f"judged {seed}")
    return [value if generator.random() < right else 1.0 - value for value in gold]


def drawn(seed: int, n: int = 80) -> list[float]:
    generator = random.Random(f"gold {seed}")
    return [float(generator.random() < 0.5) for _ in range(n)]


def test_the_difference_is_that_of_the_two_kappas():
    gold = drawn(0)
    before, after = (pairs(gold, judged(gold, right, 1)) for right in (0.6, 0.9))
    gained = paired_differences(before, after, PASS_FAIL, QUICK)[Measure.KAPPA]
    first, second = (compare(each, PASS_FAIL, QUICK) for each in (before, after))
    kappas = first.value(Measure.KAPPA), second.value(Measure.KAPPA)
    assert gained.value == pytest.approx((kappas[1] or 0.0) - (kappas[0] or 0.0))
    assert gained.low is not None
    assert gained.low > 0


def test_two_judges_that_guess_alike_are_rarely_told_apart():
    told_apart = 0
    for seed in range(60):
        gold = drawn(seed)
        before, after = (pairs(gold, judged(gold, 0.7, 2 * seed + side)) for side in (0, 1))
        gained = paired_differences(before, after, PASS_FAIL, QUICK)[Measure.KAPPA]
        assert gained.low is not None
        assert gained.high is not None
        told_apart += not gained.low <= 0 <= gained.high
    assert told_apart <= 9


def test_a_judge_and_itself_differ_by_nothing():
    same = pairs(drawn(1), judged(drawn(1), 0.8, 3))
    gained = paired_differences(same, same, PASS_FAIL, QUICK)[Measure.KAPPA]
    assert (gained.value, gained.low, gained.high) == (0.0, None, None)


def test_other_items_cannot_be_paired():
    with pytest.raises(ValueError, match="same items"):
        paired_differences(
            pairs([0.0, 1.0], [0.0, 1.0]), pairs([1.0, 1.0], [0.0, 1.0]), PASS_FAIL, QUICK
        )
