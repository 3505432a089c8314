"""Coefficients are those of the reference libraries, and undefined where nothing can be said."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from cotune.rubrics.agreement_coefficients import (
    balanced_accuracy,
    cohen_kappa,
    failure_precision,
    failure_recall,
    gwet_ac1,
    raw_agreement,
)
from cotune.rubrics.comparison import Scale, tables_by_conversation

from .annotating import pairs, ratings

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
FAILS = np.array([True, False])


def counted(gold: Sequence[float], said: Sequence[float], values: Sequence[float]):
    scale = Scale(tuple(values), (False,) * len(values))
    return np.sum(list(tables_by_conversation(pairs(gold, said), scale).values()), axis=0)


def sides(n: int, values: Sequence[float], seed: int):
    """Draw gold, and what somebody says who is right seven times in ten."""
    gold, other = ratings(n, values, seed), ratings(n, values, seed + 1000)
    generator = random.Random(f"sides {seed}")
    said = [a if generator.random() < 0.7 else b for a, b in zip(gold, other, strict=True)]
    return gold, said


@pytest.mark.parametrize("seed", range(5))
def test_coefficients_are_those_of_scikit_learn(seed: int):
    gold, said = sides(60, (0.0, 1.0), seed)
    counts = counted(gold, said, (0.0, 1.0))
    assert raw_agreement(counts) == pytest.approx(metrics.accuracy_score(gold, said))
    assert cohen_kappa(counts) == pytest.approx(metrics.cohen_kappa_score(gold, said))
    assert balanced_accuracy(counts) == pytest.approx(metrics.balanced_accuracy_score(gold, said))
    recall = metrics.recall_score(gold, said, pos_label=0)
    precision = metrics.precision_score(gold, said, pos_label=0)
    assert failure_recall(counts, FAILS) == pytest.approx(recall)
    assert failure_precision(counts, FAILS) == pytest.approx(precision)


@pytest.mark.parametrize("seed", range(5))
def test_tiers_are_weighted_as_in_scikit_learn(seed: int):
    gold, said = sides(80, FIVE, seed)
    counts = counted(gold, said, FIVE)
    expected = metrics.cohen_kappa_score(gold, said, labels=list(FIVE), weights="quadratic")
    assert cohen_kappa(counts, "quadratic") == pytest.approx(expected)


def test_kappa_is_that_of_statsmodels():
    with warnings.catch_warnings(action="ignore"):
        from statsmodels.stats.inter_rater import cohens_kappa

    gold, said = sides(70, FIVE, 3)
    counts = counted(gold, said, FIVE)
    plain = cohens_kappa(counts, return_results=False)
    weighted = cohens_kappa(counts, wt="quadratic", return_results=False)
    assert cohen_kappa(counts) == pytest.approx(plain)
    assert cohen_kappa(counts, "quadratic") == pytest.approx(weighted)


def test_ac1_is_that_of_gwets_example():
    # Gwet (2008), table 2 of the paradox: 118 both yes, 5 and 2 mixed, 0 both no.
    counts = np.array([[0.0, 2.0], [5.0, 118.0]])
    share = (2 * 118 + 7) / 250
    by_chance = 2 * share * (1 - share)
    assert gwet_ac1(counts) == pytest.approx((118 / 125 - by_chance) / (1 - by_chance))
    assert gwet_ac1(counts) == pytest.approx(0.9408, abs=1e-4)
    assert cohen_kappa(counts) == pytest.approx(-0.0234, abs=1e-4)


def test_a_lazy_judge_is_worth_nothing_beyond_chance():
    counts = counted([0.0] * 5 + [1.0] * 95, [1.0] * 100, (0.0, 1.0))
    assert raw_agreement(counts) == pytest.approx(0.95)
    assert cohen_kappa(counts) == 0.0
    assert balanced_accuracy(counts) == 0.5
    assert failure_recall(counts, FAILS) == 0.0
    assert math.isnan(failure_precision(counts, FAILS))


def test_one_value_only_is_undefined_and_never_1():
    counts = counted([1.0] * 20, [1.0] * 20, (0.0, 1.0))
    assert raw_agreement(counts) == 1.0
    for coefficient in (cohen_kappa(counts), gwet_ac1(counts), balanced_accuracy(counts)):
        assert math.isnan(coefficient)
    assert math.isnan(failure_recall(counts, FAILS))
    assert math.isnan(raw_agreement(np.zeros((2, 2))))


def test_many_tables_at_once_are_each_by_itself():
    tables = np.stack([counted(*sides(40, (0.0, 1.0), seed), (0.0, 1.0)) for seed in range(6)])
    for coefficient in (raw_agreement, cohen_kappa, gwet_ac1, balanced_accuracy):
        together = coefficient(tables.reshape(2, 3, 2, 2)).ravel()
        assert together == pytest.approx([float(coefficient(one)) for one in tables])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(FIVE), st.sampled_from(FIVE)), min_size=1, max_size=30))
def test_coefficients_stay_in_their_range(both: list[tuple[float, float]]):
    counts = counted([gold for gold, _ in both], [said for _, said in both], FIVE)
    assert 0.0 <= raw_agreement(counts) <= 1.0
    for coefficient in (cohen_kappa(counts), cohen_kappa(counts, "quadratic"), gwet_ac1(counts)):
        assert math.isnan(coefficient) or coefficient <= 1.0 + 1e-9
