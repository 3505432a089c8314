"""Thresholds and scalings: found where there is something to find, and left alone elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_curve

from cotune.rubrics.decision_calibration import Decision, Weighed, best_cut, fit_decision
from cotune.rubrics.probability_scaling import Isotonic, Platt, fit_scaling
from cotune.rubrics.verdict import Status, Verdict

PASS_FAIL = (0.0, 1.0)
TIERS = (0.0, 0.5, 1.0)


def leaning(n: int, noise: float = 0.05, seed: int = 0) -> list[Weighed]:
    """A judge that gives passes 0.8 and failures 0.65, about."""
    generator = np.random.default_rng(seed)
    return [
        Weighed(f"c-{i}", float(np.clip(0.65 + 0.15 * (i % 2) + step, 0, 1)), float(i % 2))
        for i, step in enumerate(generator.normal(0, noise, n))
    ]


def test_a_leaning_judge_gets_a_threshold_between_its_two_kinds():
    fitted = fit_decision(leaning(60), PASS_FAIL)
    assert fitted.took_cuts
    assert fitted.before == 0.5
    assert (fitted.after or 0) > 0.85
    assert 0.68 < fitted.decision.cuts[0] < 0.78
    assert isinstance(fitted.decision.scaling, Platt)


def test_a_judge_that_knows_nothing_keeps_its_threshold_mostly():
    generator = np.random.default_rng(0)
    took = 0
    for _ in range(40):
        items = [
            Weighed(f"c-{i}", float(p), float(i % 2)) for i, p in enumerate(generator.random(40))
        ]
        took += fit_decision(items, PASS_FAIL).took_cuts
    assert took < 24  # where half would be a coin


def test_one_kind_of_label_fits_nothing():
    items = [Weighed(f"c-{i}", i / 10, 1.0) for i in range(10)]
    fitted = fit_decision(items, PASS_FAIL)
    assert (fitted.decision, fitted.before, fitted.took_cuts) == (
        Decision(cuts=(0.5,)), None, False,
    )  # fmt: skip


def test_tiers_are_told_apart_by_cumulative_thresholds():
    items = [
        Weighed(f"c-{i}", 0.5 + 0.1 * (i % 3) + 0.001 * (i % 7), TIERS[i % 3]) for i in range(45)
    ]
    fitted = fit_decision(items, TIERS)
    low, high = fitted.decision.cuts
    assert 0.5 < low < 0.6 < high < 0.7
    assert [fitted.decision.value(p, TIERS) for p in (0.5, 0.6, 0.7)] == list(TIERS)
    assert fitted.decision.scaling is None


def test_without_a_fit_tiers_are_even_steps():
    even = Decision.even(TIERS)
    assert even.cuts == pytest.approx((1 / 3, 2 / 3))
    assert Decision.even(PASS_FAIL).cuts == (0.5,)


@given(
    st.lists(
        st.tuples(st.floats(0, 1, allow_subnormal=False), st.booleans()), min_size=4, max_size=40
    )
)
def test_no_threshold_has_a_larger_youden_index(items: list[tuple[float, bool]]):
    probabilities = np.array([p for p, _ in items])
    passes = np.array([float(kept) for _, kept in items])
    if passes.min() == passes.max():
        return
    cut = best_cut(probabilities, passes, 0.5)
    above = probabilities >= cut
    found = above[passes == 1].mean() - above[passes == 0].mean()
    false, true, _ = roc_curve(passes, probabilities, drop_intermediate=False)
    inside = (true - false)[1:-1]  # always and never are no thresholds
    assert found >= max(inside, default=-1.0) - 1e-9


def test_isotonic_is_that_of_scikit_learn():
    items = leaning(300, 0.1)
    said = np.array([item.probability for item in items])
    passes = np.array([item.gold for item in items])
    scaling = fit_scaling(said, passes)
    assert isinstance(scaling, Isotonic)
    expected = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(said, passes)
    grid = np.linspace(0.4, 1.0, 50)
    assert scaling(grid) == pytest.approx(expected.predict(grid), abs=1e-6)


def test_platt_recovers_a_known_curve():
    generator = np.random.default_rng(1)
    said = generator.uniform(0.05, 0.95, 190)
    true = 1 / (1 + np.exp(-(2.0 * np.log(said / (1 - said)) - 1.0)))
    passes = (generator.random(190) < true).astype(float)
    scaling = fit_scaling(said, passes)
    assert isinstance(scaling, Platt)
    assert scaling.slope == pytest.approx(2.0, abs=0.6)
    assert np.abs(scaling(said) - true).mean() < 0.05
    separated = fit_scaling(np.array([0.4, 0.45, 0.6, 0.7]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert np.all((separated(np.array([0.4, 0.7])) > 0) & (separated(np.array([0.4, 0.7])) < 1))


def test_a_verdict_is_decided_anew_and_what_has_no_probability_stays():
    decision = Decision(cuts=(0.7,), scaling=Platt(slope=1.0, intercept=0.0))
    verdict = Verdict("kept", 1.0, Status.SCORED, "", pass_probability=0.6)
    anew = decision.decide(verdict, PASS_FAIL)
    assert (anew.value, anew.pass_probability) == (0.0, pytest.approx(0.6))
    for other in (
        Verdict("kept", 1.0, Status.SCORED, ""),
        Verdict("kept", None, Status.NOT_APPLICABLE, "", pass_probability=0.1),
    ):
        assert decision.decide(other, PASS_FAIL) is other
