from __future__ import annotations

import pytest

from cotune.rubrics.verdict import Finding, Status, Verdict, worst


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


RIGHT, HALF, WRONG = (Finding.scored(value, "") for value in (1, 0.5, 0))
OPEN, NONE = Finding.inconclusive(""), Finding.not_applicable("")


@pytest.mark.parametrize(
    ("findings", "decides"),
    [
        ([NONE, RIGHT, OPEN, HALF, WRONG], WRONG),
        ([NONE, RIGHT, OPEN, HALF], HALF),
        ([NONE, RIGHT, OPEN], OPEN),
        ([NONE, RIGHT], RIGHT),
        ([NONE], NONE),
    ],
)
def test_of_several_findings_a_failure_decides_then_what_is_open(findings, decides):
    assert worst(findings) is decides
    assert worst(findings[::-1]) is decides
