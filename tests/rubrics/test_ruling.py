"""Rulings: what is known of a conversation, and as a line of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cotune.agents.errors import Fault, FaultOrigin, UsageError
from cotune.rubrics.ruling import Standing
from cotune.rubrics.ruling_file import read_rulings, write_rulings

from .rulings import BUSY, OPEN, OWN, broken, lost, ruling


def test_a_score_passes_or_not():
    one = ruling(1.0, 0.5, 0.0)
    assert one.standing is Standing.SCORED
    assert (one.overall, one.objective, one.passed) == (0.375, 0.375, False)


def test_an_assistants_own_failure_scores_0():
    one = broken(OWN)
    assert one.standing is Standing.FAILED
    assert (one.overall, one.objective, one.passed, one.counts) == (0.0, 0.0, False, True)


@pytest.mark.parametrize("origin", [each for each in FaultOrigin if each != "assistant"])
def test_a_fault_of_anything_else_excludes(origin: FaultOrigin):
    one = broken(Fault(origin, "broke", "It broke."))
    assert one.standing is Standing.EXCLUDED
    assert (one.overall, one.objective, one.passed, one.counts) == (None, None, None, False)


def test_what_a_judge_cannot_decide_has_no_score():
    for one in (ruling(OPEN, OPEN, OPEN), lost()):
        assert one.standing is Standing.UNDECIDED
        assert (one.overall, one.objective, one.passed, one.counts) == (None, None, None, False)


def test_a_file_gives_back_what_was_written(tmp_path: Path):
    rulings = [ruling(1.0, 0.5, OPEN), broken(OWN, 2), broken(BUSY, 3), lost(4), ruling(0.0, 1, 1)]
    file = tmp_path / "deep" / "verdicts.jsonl"
    assert write_rulings(file, rulings) == 5
    assert list(read_rulings(file)) == rulings
    assert {json.loads(line)["version"] for line in file.read_text().splitlines()} == {1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "line 2: version: found 2; this cotune reads version 1"),
        ({"standing": "fine"}, "line 2: standing: found 'fine'"),
        ({"extra": 1}, "line 2: extra: no such field"),
    ],
)
def test_a_line_that_is_no_ruling_is_named(tmp_path: Path, change: dict[str, object], said: str):
    file = tmp_path / "verdicts.jsonl"
    good = ruling(1.0, 1.0, 1.0).model_dump(mode="json")
    file.write_text(f"{json.dumps(good)}\n{json.dumps(good | change)}\n")
    with pytest.raises(UsageError, match=said):
        list(read_rulings(file))


@pytest.mark.parametrize("value", [7, -0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("place", ["score", "objective", "domains", "criteria"])
def test_a_score_that_cannot_be_is_refused_and_not_averaged(
    tmp_path: Path, place: str, value: float
):
    line = ruling(1.0, 1.0, 1.0).model_dump(mode="json")
    match place:
        case "domains":
            line["score"]["domains"]["cart"] = value
        case "criteria":
            line["score"]["criteria"]["tone"]["value"] = value
        case _:
            line["score"][place] = value
    file = tmp_path / "verdicts.jsonl"
    file.write_text(json.dumps(line))
    with pytest.raises(UsageError, match=r"line 1: score: .*scores are from 0 to 1"):
        list(read_rulings(file))


def test_a_verdict_that_the_score_does_not_know_is_refused(tmp_path: Path):
    line = ruling(1.0, 1.0, 1.0).model_dump(mode="json")
    line["verdicts"][0]["criterion"] = "nobody"
    file = tmp_path / "verdicts.jsonl"
    file.write_text(json.dumps(line))
    with pytest.raises(UsageError, match="the score knows no criterion 'nobody'"):
        list(read_rulings(file))


def test_a_file_that_was_cut_in_the_middle_is_named_by_its_line(tmp_path: Path):
    file = tmp_path / "verdicts.jsonl"
    write_rulings(file, [ruling(1.0, 1.0, 1.0), ruling(0.0, 1.0, 1.0)])
    whole = file.read_text()
    file.write_text(whole[: len(whole) * 3 // 4])
    with pytest.raises(UsageError, match="line 2: the line is not valid JSON"):
        list(read_rulings(file))


def test_a_failed_write_leaves_the_file_that_was_there(tmp_path: Path):
    file = tmp_path / "verdicts.jsonl"
    write_rulings(file, [ruling(1.0, 1.0, 1.0)])
    before = file.read_text()

    def breaks():
        yield ruling(0.0, 0.0, 0.0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rulings(file, breaks())
    assert file.read_text() == before
    assert list(tmp_path.iterdir()) == [file]
