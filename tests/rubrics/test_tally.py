"""Tallies: what many rulings come to."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.rubrics.ruling import Standing
from cotune.rubrics.tally import Moments, Tally

from .rulings import BUSY, OPEN, OWN, broken, lost, ruling


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=50))
def test_moments_are_those_of_the_values_together(values: list[float]):
    moments = Moments()
    for value in values:
        moments.add(value)
    assert moments.mean == pytest.approx(statistics.fmean(values), abs=1e-12)
    assert moments.sd == pytest.approx(statistics.stdev(values), abs=1e-9)


def test_the_spread_of_one_value_is_not_known():
    moments = Moments()
    moments.add(1.0)
    assert moments.sd is None


def test_conversations_are_counted_by_what_is_known_of_them():
    tally = Tally.of([ruling(1, 1, 1), broken(OWN), broken(BUSY), lost(), ruling(OPEN, OPEN, OPEN)])
    assert tally.standings == {
        Standing.SCORED: 1,
        Standing.FAILED: 1,
        Standing.EXCLUDED: 1,
        Standing.UNDECIDED: 2,
    }
    assert tally.faults == {"assistant/invalid_json": 1, "provider/rate_limit": 2}
    assert (tally.counted, tally.score.n, tally.score.mean) == (2, 2, 0.5)
    assert tally.passed == {True: 1, False: 1}


def test_only_conversations_with_a_score_enter_domains_and_criteria():
    tally = Tally.of([ruling(1, 0.5, 1), ruling(0, 1, 0), broken(OWN), ruling(OPEN, OPEN, OPEN)])
    assert (tally.domains["cart"].n, tally.domains["cart"].mean) == (2, 0.625)
    complete, tone = tally.criteria["complete"], tally.criteria["tone"]
    assert (complete.values.n, complete.values.mean, complete.inconclusive) == (2, 0.5, 1)
    assert tone.tiers == {0.5: 1, 1.0: 1}
    assert tally.critical == {"safety": 1}


def test_a_value_beside_too_many_open_ones_is_not_believed():
    tally = Tally.of([ruling(1, OPEN, OPEN)])
    assert tally.standings == {Standing.UNDECIDED: 1}
    assert tally.criteria["complete"].values.n == 0
    assert tally.criteria["tone"].inconclusive == 1


def test_the_worst_are_kept_in_order_and_nothing_else():
    rulings = [ruling(1, 1, 1, number=number) for number in range(1, 20)]
    rulings[7] = ruling(0, 0, 1, number=8)
    rulings[3] = broken(OWN, 4)
    rulings[9] = ruling(0, 1, 1, number=10)
    assert [each.number for each in Tally.of(rulings).worst] == [4, 8, 10, 1, 2]


def test_where_no_agent_was_seen_at_work_nobody_is_blamed():
    tally = Tally.of([ruling(1, 0.5, 0), ruling(1, 1, 1), ruling(0, OPEN, OPEN)])
    assert (tally.below_best, tally.unblamed, tally.blame) == (2, 2, {})
