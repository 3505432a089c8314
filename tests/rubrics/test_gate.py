"""The gate: thresholds, kept or missed, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.errors import UsageError
from cotune.rubrics.gate import Thresholds, load_thresholds, requirements
from cotune.rubrics.ruling import Ruling
from cotune.rubrics.tally import Tally

from .rulings import BUSY, NONE, OPEN, OWN, broken, lost, ruling

GOOD = [ruling(1, 1, 1, number=number) for number in range(1, 9)]
MIXED = [*GOOD, ruling(0, 0.5, 0, number=9), broken(OWN, 10)]


def missed(
    rulings: Iterable[Ruling],
    least: dict[str, float] | None = None,
    most: dict[str, float] | None = None,
) -> list[str]:
    held = requirements(Tally.of(rulings), Thresholds(min=least or {}, max=most or {}))
    return [each.said for each in held if not each.met]


def test_good_conversations_pass():
    assert missed(GOOD, {"overall": 1.0, "passed": 1.0, "cart": 1.0, "conversations": 8}) == []


@pytest.mark.parametrize(
    ("least", "said"),
    [
        ({"overall": 0.9}, "overall: the mean score is 0.8125 over 10, at least 0.9 needed"),
        ({"objective": 0.9}, "objective: the mean objective is 0.8125 over 10"),
        ({"passed": 0.9}, "passed: the share that passed is 0.8 over 10, at least 0.9 needed"),
        ({"tone": 0.95}, "criterion.tone: the mean of the criterion 'tone' is 0.944444 over 9"),
        ({"cart": 0.95}, "domain.cart: the mean of the domain 'cart' is 0.916667 over 9"),
    ],
)
def test_a_missed_threshold_says_what_was_found_and_needed(least: dict[str, float], said: str):
    (only,) = missed(MIXED, least)
    assert only.startswith(said)


def test_a_name_that_a_domain_and_a_criterion_have_means_both():
    domain, criterion = missed(MIXED, {"safety": 1.0})
    assert domain.startswith("domain.safety")
    assert criterion.startswith("criterion.safety")
    assert len(missed(MIXED, {"domain.safety": 1.0})) == 1


def test_own_failures_and_critical_failures_have_limits_of_their_own():
    assert missed(MIXED, most={"failed": 0.1, "critical_failures": 0.1}) == []
    failed, critical = missed(MIXED, most={"failed": 0.05, "critical_failures": 0.05})
    assert "assistant broke off is 0.1 over 10" in failed
    assert "critical failure is 0.1 over 10" in critical


def test_exactly_enough_is_enough():
    thirds = [ruling(1, 1, 1), ruling(1, 1, 1), ruling(0, 0, 0)]
    assert missed(thirds, {"overall": 2 / 3, "conversations": 3}) == []


def test_too_few_conversations_is_a_reason_of_its_own():
    said = missed([*GOOD, broken(BUSY, 9)], {"conversations": 9, "overall": 1.0})
    assert said == ["too few conversations: 8 have a score, at least 9 needed"]


def test_no_conversation_fails_whatever_is_asked():
    assert missed([]) == ["too few conversations: 0 have a score, at least 1 needed"]
    assert len(missed([broken(BUSY)])) == 1


def test_too_many_inconclusive_is_a_reason_of_its_own():
    half = [*GOOD[:4], *(ruling(1, OPEN, 1, number=number) for number in range(5, 9))]
    first, second = missed(half, {"tone": 1.0})
    assert first.startswith("too many inconclusive: inconclusive: ")
    assert "50.0% of what it should rest on is inconclusive, at most 10.0% allowed" in second
    assert missed(half, {"tone": 1.0}, {"inconclusive": 0.5}) == []


def test_conversations_that_no_judge_read_are_too_many_inconclusive():
    (said,) = missed([*GOOD, lost(9), lost(10)])
    assert said.startswith("too many inconclusive: undecided: ")
    assert missed([*GOOD, lost(9), lost(10)], most={"undecided": 0.2}) == []


def test_excluded_conversations_count_only_where_that_is_asked():
    assert missed([*GOOD, broken(BUSY, 9)], {"overall": 1.0}) == []
    assert len(missed([*GOOD, broken(BUSY, 9)], most={"excluded": 0.1})) == 1


def test_nothing_known_is_not_passed():
    assert missed([ruling(1, NONE, 1)], {"tone": 0.5}) == [
        "criterion.tone: nothing is known, for no conversation has a value; 0.5 needed"
    ]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        UsageError, match=r"'overal' .* conversations, overall, .*, safety, complete, tone"
    ):
        missed(GOOD, {"overal": 0.5})
    with pytest.raises(UsageError, match="'faild'"):
        missed(GOOD, most={"faild": 0.5})


@pytest.mark.parametrize("name", ["rubric", "model"])
def test_verdicts_by_different_yardsticks_are_not_averaged(name: str):
    other = GOOD[0].model_copy(update={"by": {**GOOD[0].by, name: "another"}})
    with pytest.raises(UsageError, match="2 different"):
        missed([*GOOD, other])


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=8), st.floats(0.0, 1.0))
def test_a_lower_threshold_is_never_harder(tones: list[float], threshold: float):
    rulings = [ruling(1, tone, 1) for tone in tones]
    if not missed(rulings, {"tone": threshold}):
        assert not missed(rulings, {"tone": threshold / 2})


def test_a_file_of_thresholds_is_overridden_name_by_name(tmp_path: Path):
    file = tmp_path / "gate.yaml"
    file.write_text("min: {overall: 0.8, conversations: 50}\nmax: {inconclusive: 0.05}\n")
    thresholds = load_thresholds(file).overridden(Thresholds(min={"overall": 0.9}))
    assert thresholds.min == {"overall": 0.9, "conversations": 50}
    assert thresholds.max == {"inconclusive": 0.05}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min: {overall: 80}", "Line 1, min: 'overall' is 80, and figures are from 0 to 1"),
        ("min:\n  overall: high", r"Line 2, min\.overall: found 'high'"),
        ("maxi: {failed: 0}", "did you mean 'max'"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, text: str, said: str):
    file = tmp_path / "gate.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=said):
        load_thresholds(file)
