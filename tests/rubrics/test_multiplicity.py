from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from cotune.rubrics.multiplicity import holm

_P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_a_hand_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_one_comparison_needs_no_correction_and_none_gives_none() -> None:
    assert holm([0.03]) == [0.03]
    assert holm([]) == []


@settings(deadline=None)
@given(_P_VALUES)
def test_it_is_statsmodels_holm(p_values: list[float]) -> None:
    _, expected, *_ = multipletests(p_values, method="holm")
    assert holm(p_values) == pytest.approx(np.asarray(expected).tolist())
