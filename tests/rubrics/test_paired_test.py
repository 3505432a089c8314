from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cotune.rubrics.paired_test import paired_p_value


def _alone(count: int) -> list[str]:
    return [str(number) for number in range(count)]


@pytest.mark.parametrize(("better", "worse"), [(5, 0), (7, 1), (6, 4), (3, 3)])
def test_pass_or_fail_gives_mcnemars_exact_test(better: int, worse: int) -> None:
    before = [0.0] * better + [1.0] * worse + [1.0] * 4
    after = [1.0] * better + [0.0] * worse + [1.0] * 4
    expected = stats.binomtest(better, better + worse).pvalue
    assert paired_p_value(before, after, _alone(len(before))) == pytest.approx(expected)


def test_many_clusters_are_drawn_from_and_agree_with_the_t_test() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.normal(0, 1, 60), rng.normal(0.3, 1, 60)
    expected = stats.ttest_rel(after, before).pvalue
    found = paired_p_value(before.tolist(), after.tolist(), _alone(60))
    assert found == pytest.approx(expected, abs=0.01)


def test_examples_of_one_family_are_one_piece_of_evidence() -> None:
    before, after = [0.0] * 12, [1.0] * 12
    assert paired_p_value(before, after, _alone(12)) == pytest.approx(2 / 2**12)
    assert paired_p_value(before, after, ["a", "b", "c"] * 4) == pytest.approx(2 / 2**3)
    assert paired_p_value(before, after, ["a"] * 12) == 1.0


def test_no_difference_is_no_surprise() -> None:
    assert paired_p_value([0.5, 0.2], [0.5, 0.2], ["a", "b"]) == 1.0


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="2 before, 1 after, 2 clusters"):
        paired_p_value([0, 1], [1], ["a", "b"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=16))
def test_the_side_does_not_matter(differences: list[float]) -> None:
    nothing, names = [0.0] * len(differences), _alone(len(differences))
    one = paired_p_value(nothing, differences, names)
    other = paired_p_value(differences, nothing, names)
    assert 0 < one <= 1
    assert one == pytest.approx(other, abs=0.03), "drawn flips differ, exact ones do not"
