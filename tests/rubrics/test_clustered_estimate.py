"""Intervals hold what they promise, and are not given where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest

from cotune.rubrics.clustered_estimate import UNDEFINED, Estimate, Resampling, estimate
from cotune.rubrics.comparison import Measure, compare
from cotune.rubrics.statistics import Floats

from .annotating import PASS_FAIL, pairs

QUICK = Resampling(resamples=400)


def share(sums: Floats) -> Floats:
    return sums[..., 0] / sums[..., 1]


def rows(values: list[float]) -> Floats:
    return np.array([[value, 1.0] for value in values])


def test_the_order_of_conversations_does_not_matter():
    values = [0.0, 1.0, 1.0] * 10
    one = estimate(share, rows(values), 30, 0.0, QUICK)
    other = estimate(share, rows(values[::-1]), 30, 0.0, QUICK)
    assert one == other
    assert one.low is not None
    assert one.high is not None
    assert one.low < 2 / 3 < one.high


def test_a_perfect_share_has_an_exact_bound_and_a_perfect_kappa_none():
    found = compare(pairs([0.0, 1.0] * 10, [0.0, 1.0] * 10), PASS_FAIL, QUICK)
    raw, kappa = found.estimates[Measure.RAW], found.estimates[Measure.KAPPA]
    assert (raw.value, raw.high) == (1.0, 1.0)
    assert raw.low == pytest.approx(0.025 ** (1 / 20))
    assert (kappa.value, kappa.low, kappa.high) == (1.0, None, None)


def test_few_conversations_get_a_wide_interval_and_one_gets_none():
    few = estimate(share, rows([0.0, 1.0, 1.0, 1.0]), 4, 0.0, QUICK)
    assert few.method.startswith("Student's t")
    assert (few.low, few.high) == (0.0, 1.0)
    one = estimate(share, np.array([[3.0, 4.0]]), 4, 0.0, QUICK)
    assert (one.value, one.low, one.high) == (0.75, None, None)


def test_what_most_resamples_do_not_define_has_no_interval():
    found = compare(pairs([0.0] + [1.0] * 19, [0.0] + [1.0] * 18 + [0.0]), PASS_FAIL, QUICK)
    kappa = found.estimates[Measure.KAPPA]
    assert kappa.value is not None
    assert kappa.low is None
    assert "undefined in" in kappa.method


def test_one_class_only_is_undefined_with_its_raw_agreement_kept():
    found = compare(pairs([1.0] * 30, [1.0] * 30), PASS_FAIL, QUICK)
    for measure in (Measure.KAPPA, Measure.AC1, Measure.BALANCED, Measure.FAILURE_RECALL):
        assert found.value(measure) is None
        assert found.estimates[measure].method == UNDEFINED
    assert found.value(Measure.RAW) == 1.0


def test_nothing_at_all_is_undefined():
    found = compare([], PASS_FAIL, QUICK)
    assert (found.n, found.conversations) == (0, 0)
    assert {each.value for each in found.estimates.values()} == {None}


def test_items_of_one_conversation_do_not_count_as_many():
    gold = [0.0, 1.0] * 20
    said = [0.0, 1.0] * 15 + [1.0, 0.0] * 5
    alone = compare(pairs(gold, said), PASS_FAIL, QUICK).estimates[Measure.RAW]
    together = [
        type(pair)(f"c-{number // 4}", pair.gold, pair.said)
        for number, pair in enumerate(pairs(gold, said))
    ]
    clustered = compare(together, PASS_FAIL, QUICK).estimates[Measure.RAW]
    assert (alone.clusters, clustered.clusters) == (40, 10)
    assert alone.value == clustered.value
    assert width(clustered) > width(alone)


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def test_the_interval_of_kappa_covers_the_truth_about_as_often_as_it_says():
    generator = np.random.default_rng(7)
    covered, runs, truth = 0, 120, 0.6  # both classes alike, right in 8 of 10: 0.8 - 0.2
    for _ in range(runs):
        gold = (generator.random(50) < 0.5).astype(float)
        said = np.where(generator.random(50) < 0.8, gold, 1.0 - gold)
        found = compare(pairs(gold.tolist(), said.tolist()), PASS_FAIL, QUICK)
        kappa = found.estimates[Measure.KAPPA]
        assert kappa.low is not None
        assert kappa.high is not None
        covered += kappa.low <= truth <= kappa.high
    assert covered / runs >= 0.88
