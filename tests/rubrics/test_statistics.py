from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cotune.rubrics.statistics import (
    MIN_CLUSTERS_TO_RESAMPLE,
    Conclusion,
    Interval,
    conclude,
    expanded,
    mean_interval,
    one_sided_margin,
    paired_difference,
)

# Student's sleep data (1908): hours gained by the same ten patients with two drugs.
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def bounds(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_students_sleep_data_has_the_published_mean_and_conclusion():
    interval = paired_difference(DRUG_1, DRUG_2)

    assert interval.mean == pytest.approx(1.58)
    assert conclude(interval) is Conclusion.IMPROVED
    assert conclude(paired_difference(DRUG_2, DRUG_1)) is Conclusion.WORSE


def test_few_single_examples_give_scipys_paired_t_interval():
    expected = stats.ttest_rel(DRUG_2[:8], DRUG_1[:8]).confidence_interval(0.9)

    interval = paired_difference(DRUG_1[:8], DRUG_2[:8], confidence=0.9)

    assert bounds(interval) == pytest.approx((expected.low, expected.high))


def test_a_hand_worked_cluster_robust_interval():
    # sums 2, 0, 1 of 2, 2, 1 values: mean 0.6; residuals 0.8, -1.2, 0.4, squares sum to 2.24;
    # standard error sqrt(3/2 * 2.24) / 5 = 0.36661; t(2) at 97.5 % = 4.30265
    interval = mean_interval([1, 1, 0, 0, 1], ["a", "a", "b", "b", "c"])

    assert (interval.n, interval.clusters) == (5, 3)
    assert interval.mean == pytest.approx(0.6)
    assert bounds(interval) == pytest.approx((0.6 - 1.57739, 0.6 + 1.57739), abs=1e-4)


def test_the_t_interval_is_statsmodels_cluster_robust_one():
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    rng = np.random.default_rng(1)
    clusters = rng.integers(0, 8, 40)
    values = rng.normal(clusters % 3, 1.0)
    fit = regression.OLS(values, np.ones(40)).fit()
    robust = fit.get_robustcov_results("cluster", groups=clusters, use_correction=False)
    k = len(set(clusters))
    error = robust.bse[0] * np.sqrt(k / (k - 1))

    low, high = bounds(mean_interval(values.tolist(), [str(c) for c in clusters]))

    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, k - 1) * error)


def test_many_single_examples_give_scipys_bca_interval():
    rng = np.random.default_rng(2)
    before, after = rng.beta(2, 2, 60), rng.beta(3, 2, 60)
    expected = stats.bootstrap(
        (after - before,),
        np.mean,
        n_resamples=5000,
        confidence_level=expanded(0.95, 60),
        rng=np.random.default_rng(7),
    ).confidence_interval

    interval = paired_difference(before.tolist(), after.tolist(), seed=7)

    assert bounds(interval) == pytest.approx((expected.low, expected.high), abs=0.01)
    assert "BCa" in interval.method


def test_the_bootstraps_level_is_expanded_as_published_and_the_more_so_the_fewer_clusters():
    # Hesterberg (2015): alpha' / 2 = Phi(-sqrt(n / (n - 1)) * t(alpha / 2, n - 1))
    t_14 = 2.14479  # 97.5 % quantile, from the table
    tail = stats.norm.cdf(-np.sqrt(15 / 14) * t_14)

    assert expanded(0.95, 15) == pytest.approx(1 - 2 * tail, abs=1e-5)
    assert expanded(0.95, 10) > expanded(0.95, 15) > expanded(0.95, 1000) > 0.95


def test_families_that_move_together_widen_the_interval():
    rng = np.random.default_rng(3)
    families = np.repeat(np.arange(20), 5)
    values = rng.normal(0.1, 0.3, 20)[families].tolist()

    alone = bounds(mean_interval(values))
    together = bounds(mean_interval(values, [str(family) for family in families]))

    assert together[1] - together[0] > 1.8 * (alone[1] - alone[0])


def test_a_prompt_against_itself_is_no_evidence():
    interval = paired_difference([0.2, 0.7], [0.2, 0.7])

    assert bounds(interval) == (0.0, 0.0)
    assert conclude(interval) is Conclusion.NO_EVIDENCE


@pytest.mark.parametrize(("clusters", "conclusion"), [
    (5, Conclusion.NO_EVIDENCE), (6, Conclusion.IMPROVED)
])  # fmt: skip
def test_equal_gains_convince_only_in_enough_clusters(clusters, conclusion):
    interval = paired_difference([0.0] * clusters, [0.5] * clusters)

    assert interval.mean == 0.5
    assert conclude(interval) is conclusion
    assert (interval.low is None) is (conclusion is Conclusion.NO_EVIDENCE)


def test_clusters_that_are_alike_do_not_convince_by_varying_inside():
    interval = mean_interval([0, 1, 0, 1], ["a", "a", "b", "b"])

    assert (interval.low, interval.high) == (None, None)
    assert conclude(interval) is Conclusion.NO_EVIDENCE


def test_what_no_mean_can_be_is_cut_off():
    wide = paired_difference([0, 0, 0, 1], [1, 1, 1, 0], ["a", "b", "c", "d"])
    assert bounds(wide)[1] > 1.0
    cut = wide.within(-1.0, 1.0)
    assert bounds(cut) == (max(bounds(wide)[0], -1.0), 1.0)
    assert cut.mean == wide.mean
    unknown = paired_difference([0], [1])
    assert unknown.within(-1.0, 1.0) == unknown


def test_one_cluster_says_nothing():
    interval = mean_interval([0.9, 1.0, 0.8], ["a", "a", "a"])

    assert interval.low is None
    assert interval.mean == pytest.approx(0.9)
    assert "too few" in interval.method


@pytest.mark.parametrize("bound", [0.0, -0.0])
def test_a_bound_of_zero_is_no_evidence(bound):
    def with_bounds(low: float, high: float) -> Interval:
        return Interval(0.1, low, high, 10, 10, 0.95, "")

    assert conclude(with_bounds(bound, 0.2)) is Conclusion.NO_EVIDENCE
    assert conclude(with_bounds(-0.2, bound)) is Conclusion.NO_EVIDENCE


@pytest.mark.parametrize(
    ("before", "after", "clusters"),
    [
        ([], [], None),
        ([1.0], [1.0, 0.0], None),
        ([1.0], [float("nan")], None),
        ([1.0, 0.0], [1.0, 1.0], ["a"]),
    ],
)
def test_what_cannot_be_paired_is_refused(before, after, clusters):
    with pytest.raises(ValueError, match=r"value|scores|clusters"):
        paired_difference(before, after, clusters)


scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])
rows = st.lists(st.tuples(scores, scores, st.sampled_from("abcdefghijklmnopqrst")), min_size=1,
                max_size=40)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_an_interval_holds_its_mean_whatever_the_order(rows, rng: random.Random):
    def interval(rows):
        before, after, clusters = zip(*rows, strict=True)
        return paired_difference(before, after, clusters, resamples=300, seed=4)

    first, second = interval(rows), interval(rng.sample(rows, len(rows)))

    assert first == second
    if first.low is not None and first.high is not None:
        assert first.low <= first.mean <= first.high


def share_improved(clusters: int, size: int, gain: float, runs: int) -> float:
    """Simulate pass/fail scores of families that differ; return the share called improved."""
    rng = np.random.default_rng(clusters)
    families = [str(i) for i in range(clusters) for _ in range(size)]
    improved = 0
    for _ in range(runs):
        chance = np.repeat(rng.beta(2, 1.3, clusters), size)
        before = rng.random(len(families)) < chance
        after = rng.random(len(families)) < np.minimum(chance + gain, 1)
        interval = paired_difference(
            before.tolist(), after.tolist(), families, resamples=500, seed=int(rng.integers(2**31))
        )
        improved += conclude(interval) is Conclusion.IMPROVED
    return improved / runs


@pytest.mark.parametrize(
    "clusters", [4, MIN_CLUSTERS_TO_RESAMPLE - 1, MIN_CLUSTERS_TO_RESAMPLE, 15, 30]
)
def test_pure_noise_is_rarely_called_improved(clusters):
    assert share_improved(clusters, 3, gain=0.0, runs=300) <= 0.05


def test_a_real_gain_is_found():
    assert share_improved(25, 3, gain=0.35, runs=40) >= 0.9


def percentile_bounds(sums, rng) -> tuple[float, float]:
    """The plain percentile bootstrap interval at 95 %, as most tools compute it."""
    drawn = sums[rng.integers(0, len(sums), (500, len(sums)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def gated(rng, scenarios: int):
    """Differences of gated scores, three in four tied: skewed when there is a gain, here 0.1."""
    drawn = rng.random(scenarios)
    return np.where(drawn < 0.1875, 0.8, np.where(drawn < 0.25, -0.8, 0.0))


def averaged(rng, scenarios: int):
    """Differences of averages of eight parts, with a gain of 0.1."""
    chance = rng.uniform(0.2, 0.8, scenarios)
    return (rng.binomial(8, chance + 0.1, scenarios) - rng.binomial(8, chance)) / 8


def coverage(draw, scenarios: int, runs: int) -> tuple[float, float]:
    """Return how often the percentile interval and ours hold the true gain of 0.1."""
    rng = np.random.default_rng(scenarios)
    percentile, ours = 0, 0
    for _ in range(runs):
        differences = draw(rng, scenarios)
        low, high = percentile_bounds(differences, rng)
        percentile += low <= 0.1 <= high
        interval = mean_interval(differences.tolist(), resamples=500, seed=1)
        ours += interval.low is None or interval.low <= 0.1 <= (interval.high or 0.0)
    return percentile / runs, ours / runs


@pytest.mark.parametrize("draw", [gated, averaged])
@pytest.mark.parametrize("scenarios", [6, 9, 12])
def test_the_percentile_interval_covers_too_little_with_few_scenarios(draw, scenarios):
    """With more runs: see docs/decisions.md."""
    percentile, ours = coverage(draw, scenarios, runs=300)

    assert percentile < 0.935
    assert percentile < ours
    assert ours > (0.9 if draw is averaged else 0.78)


def test_a_margin_without_a_prior_is_students_but_for_the_degrees_of_freedom():
    values = [0.1, -0.2, 0.4, 0.0, 0.3]
    expected = np.std(values) / np.sqrt(5) * stats.t.ppf(0.9, 5)

    assert one_sided_margin(values, 0.9, prior_variance=0.0) == pytest.approx(expected)


def test_ties_alone_leave_the_priors_margin_and_more_values_a_smaller_one():
    margins = [one_sided_margin([0.0] * n, 0.9, prior_variance=0.25) for n in (4, 12, 48)]

    assert margins[0] > margins[1] > margins[2] > 0
    assert margins[1] == pytest.approx(0.5 / 12 * stats.t.ppf(0.9, 12))


def test_no_variance_below_the_least_is_believed():
    lucky = [0.5] * 8
    floor = one_sided_margin(lucky, 0.9, prior_variance=0.25, least_variance=0.3)

    assert floor == pytest.approx(np.sqrt(0.3 / 8) * stats.t.ppf(0.9, 8))
    assert floor > one_sided_margin(lucky, 0.9, prior_variance=0.25)
    with pytest.raises(ValueError, match="at least one"):
        one_sided_margin([], 0.9, prior_variance=0.25)
