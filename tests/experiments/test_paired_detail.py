from __future__ import annotations

import pytest

from cotune.experiments.paired_detail import PairedDetail, paired_detail
from cotune.optimizer.settings import HeldOutTest
from cotune.rubrics.ruling import Ruling, Standing
from cotune.rubrics.scoring import score
from cotune.rubrics.verdict import Status, Verdict

from .conftest import RUBRIC


def _ruling(number: int, value: float | None, repeat: int = 0) -> Ruling:
    about = {
        "number": number + 1,
        "scenario": f"s-{number}",
        "label": {"family": f"f-{number}", "repeat": repeat},
        "rubric": RUBRIC.id,
        "by": {},
    }
    if value is None:
        return Ruling(**about, standing=Standing.EXCLUDED)
    verdicts = (
        Verdict("right_agent", value, Status.SCORED, ""),
        Verdict("harmless", None, Status.NOT_APPLICABLE, ""),
        Verdict("tone", 1.0, Status.SCORED, ""),
    )
    return Ruling(
        **about, standing=Standing.SCORED, score=score(RUBRIC, verdicts), verdicts=verdicts
    )


def _detail(before: list[Ruling], after: list[Ruling]) -> PairedDetail | None:
    return paired_detail(before, after, HeldOutTest(), 0)


def test_pairs_are_counted_and_criteria_compared() -> None:
    before = [_ruling(number, 0.0 if number < 6 else 1.0) for number in range(12)]
    after = [_ruling(number, 0.0 if number == 11 else 1.0) for number in range(12)]
    detail = _detail(before, after)
    assert detail is not None
    assert (detail.better, detail.worse, detail.same) == (6, 1, 5)
    assert set(detail.criteria) == {"right_agent", "tone"}
    assert detail.criteria["right_agent"].difference.mean == pytest.approx(5 / 12)
    assert detail.criteria["tone"].difference.mean == 0


def test_repeats_of_an_example_are_pairs_of_their_own() -> None:
    before = [_ruling(number, 0.0, repeat) for number in range(3) for repeat in (0, 1)]
    after = [_ruling(number, 1.0, repeat) for number in range(3) for repeat in (1, 0)]
    detail = _detail(before, after)
    assert detail is not None
    assert (detail.better, detail.worse, detail.same) == (6, 0, 0)


def test_what_a_fault_excluded_is_no_pair() -> None:
    lost = [_ruling(number, None) for number in range(3)]
    whole = [_ruling(number, 1.0) for number in range(3)]
    assert _detail(lost, whole) is None
    detail = _detail([*whole[:1], *lost[1:]], whole)
    assert detail is not None
    assert (detail.better, detail.worse, detail.same) == (0, 0, 1)
