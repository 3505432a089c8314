"""Several opinions on one question become one."""

from __future__ import annotations

import pytest

from cotune.rubrics.judges.answer import Opinion
from cotune.rubrics.judges.majority import majority
from cotune.rubrics.verdict import Status, Verdict

from .judging import RUBRIC

ASKS, CLEAR, INTEGRITY = RUBRIC.criteria
NA, OPEN = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
Said = float | Status


def opinion(said: Said, confidence: float = 1.0) -> Opinion:
    status, value = (said, None) if isinstance(said, Status) else (Status.SCORED, said)
    return Opinion(Verdict("asks", value, status, f"Says {said}."), confidence)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ([1.0, 1.0, 0.0], 1.0),
        ([0.0, 1.0, 0.0], 0.0),
        ([1.0, 0.0], OPEN),
        ([NA, NA, 0.0], NA),
        ([NA, 1.0, 0.0, 1.0], 1.0),
        ([NA, 1.0], OPEN),
        ([OPEN, OPEN, 1.0], OPEN),
        ([OPEN, 1.0], OPEN),
        ([OPEN, 1.0, 1.0], 1.0),
        ([OPEN, 1.0, 0.0], OPEN),
        ([OPEN], OPEN),
    ],
)
def test_pass_and_fail(said: list[Said], outcome: Said):
    assert _outcome(majority(ASKS, None, [opinion(each) for each in said])) == outcome


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ([1.0, 0.5, 0.5], 0.5),
        ([1.0, 1.0, 0.5], 1.0),
        ([1.0, 0.5], 0.5),
        ([1.0, 0.0], 0.5),
        ([0.0, 0.0, 0.5], 0.0),
    ],
)
def test_tiers_go_to_the_one_nearest_to_the_mean(said: list[Said], outcome: Said):
    assert _outcome(majority(CLEAR, None, [opinion(each) for each in said])) == outcome


def test_who_disagrees_and_who_says_nothing_lowers_the_confidence():
    opinions = [opinion(1.0, 0.9), opinion(1.0, 0.6), opinion(0.0, 1.0), opinion(OPEN, 0.0)]
    assert majority(ASKS, None, opinions[:3]).confidence == pytest.approx(0.5)
    assert majority(ASKS, None, [opinions[0], *opinions]).confidence == pytest.approx(0.48)


def test_the_reasons_are_those_of_the_outcome_and_the_turn_is_kept():
    assert majority(ASKS, None, [opinion(0.0), opinion(1.0), opinion(1.0)]).verdict.rationale == (
        "Says 1.0."
    )
    tie = majority(INTEGRITY, 4, [opinion(0.0), opinion(1.0)]).verdict
    assert tie.turn == 4
    assert tie.rationale == "As many repeats pass it as fail it. Says 0.0. Says 1.0."


def _outcome(opinion: Opinion) -> Said | None:
    verdict = opinion.verdict
    return verdict.value if verdict.status is Status.SCORED else verdict.status
