"""Changes of agreement: paired, weighted and clustered on conversations."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import cohen_kappa_score

from cotune.rubrics.agreement_change import change, concluded, flat_weights
from cotune.rubrics.clustered_estimate import Estimate, Resampling
from cotune.rubrics.comparison import Measure, Pair
from cotune.rubrics.statistics import Conclusion

from .annotating import PASS_FAIL
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
    ],
)
def test_what_may_be_said(kappa_: Bounds, raw: Bounds, so: Conclusion | None):
    first, second = (Estimate(value, low, high, 40, 40, "") for value, low, high in (kappa_, raw))
    assert concluded(first, second) is so
