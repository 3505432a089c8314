from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.optimizer.shrinkage import Gain, gain_of, shrunk

from .tasks import rollouts

_GAINS = st.lists(st.builds(Gain, st.floats(-1, 1), st.floats(0, 0.5)), min_size=1, max_size=6)


def test_a_gain_and_its_error_are_those_of_the_paired_differences() -> None:
    # differences 0.5, 0, 0.25, 0.25: mean 0.25, variance 1/24, over 4
    gain = gain_of(rollouts(0.0, 0.5, 0.5, 0.0), rollouts(0.5, 0.5, 0.75, 0.25))
    assert gain.mean == 0.25
    assert gain.error == pytest.approx(1 / 96)


def test_repeats_of_an_example_are_no_new_examples() -> None:
    before, after = rollouts(0.0, 0.0), rollouts(1.0, 0.5)
    assert gain_of([*before] * 3, [*after] * 3).error == pytest.approx(gain_of(before, after).error)


def test_what_a_fault_hit_is_left_out_and_one_example_proves_nothing() -> None:
    one = gain_of(rollouts(0.0, None), rollouts(1.0, 1.0))
    assert (one.mean, shrunk([one])) == (1.0, [0.0])
    assert gain_of(rollouts(None), rollouts(1.0)) == Gain(0.0, 0.0)


def test_a_hand_worked_shrinkage() -> None:
    # variance: the mean of 0.16 - 0.04 and 0.04 - 0.04 is 0.06
    assert shrunk([Gain(0.4, 0.04), Gain(0.2, 0.04)]) == pytest.approx([0.24, 0.12])


def test_a_sure_gain_keeps_its_worth_and_an_unsure_larger_one_loses_more() -> None:
    sure, unsure = shrunk([Gain(0.3, 0.0), Gain(0.35, 0.06)])
    assert sure == 0.3
    assert unsure < sure
    assert shrunk([]) == []


@given(_GAINS)
def test_no_gain_grows_or_changes_its_sign(gains: list[Gain]) -> None:
    for gain, worth in zip(gains, shrunk(gains), strict=True):
        assert abs(worth) <= abs(gain.mean)
        assert worth * gain.mean >= 0


@pytest.mark.parametrize("true_spread", [0.0, 0.05])
def test_the_best_of_several_is_overrated_and_shrunk_it_is_far_less(true_spread: float) -> None:
    rng = np.random.default_rng(11)
    excess = []
    for _ in range(400):
        true = rng.normal(0.0, true_spread, 5)
        seen = [Gain(float(one), 0.0064) for one in rng.normal(true, 0.08)]
        worth = shrunk(seen)
        best = int(np.argmax([one.mean for one in seen]))
        excess.append((seen[best].mean - true[best], worth[best] - true[best]))
    raw, kept = np.mean(excess, axis=0)
    assert raw > 0.06
    assert abs(kept) < raw / 2
