from __future__ import annotations

import pytest

from cotune.rubrics.verdict import Finding, Status, Verdict


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_value_outside_0_to_1_is_refused(value):
    with pytest.raises(ValueError, match="in \\[0, 1\\]"):
        Finding.scored(value, "")


@pytest.mark.parametrize(
    ("status", "value"),
    [(Status.SCORED, None), (Status.NOT_APPLICABLE, 0.0), (Status.INCONCLUSIVE, 1.0)],
)
def test_a_value_goes_with_scored_only(status, value):
    with pytest.raises(ValueError, match="scored"):
        Verdict("quantity", value, status, "")
