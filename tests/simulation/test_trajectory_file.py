"""Files of trajectories are written whole or not at all, and read line by line."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cotune.agents.assistant import Reply
from cotune.agents.errors import CotuneError, UsageError
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import read_trajectories, write_trajectories


def trajectory(number: int) -> Trajectory:
    turn = Turn(f"Grüße \u2028 {number}", Reply("line\nbreak"), {"n": number}, {"why": "greeting"})
    return Trajectory(f"s{number}", (turn,), {}, StopReason.SATISFIED)


def test_what_was_written_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.jsonl"
    assert write_trajectories(path, map(trajectory, range(5))) == 5
    assert list(read_trajectories(path)) == [trajectory(number) for number in range(5)]
    lines = path.read_bytes().splitlines()
    assert len(lines) == 5
    assert "Grüße".encode() in lines[0], "people can read it"


def test_broken_emoji_survive(tmp_path: Path) -> None:
    broken = replace(trajectory(1), metadata={"said": "\ud83d"})
    write_trajectories(tmp_path / "out", [broken])
    assert list(read_trajectories(tmp_path / "out")) == [broken]


def test_no_trajectories_are_an_empty_file(tmp_path: Path) -> None:
    assert write_trajectories(tmp_path / "out", []) == 0
    assert list(read_trajectories(tmp_path / "out")) == []


def test_a_file_that_could_not_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_trajectories(path, [trajectory(1)])

    def fails() -> Iterator[Trajectory]:
        yield trajectory(2)
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        write_trajectories(path, fails())
    assert list(read_trajectories(path)) == [trajectory(1)]
    assert list(tmp_path.iterdir()) == [path]


def test_neither_writing_nor_reading_holds_more_than_one(tmp_path: Path) -> None:
    def alive() -> int:
        return sum(isinstance(one, Trajectory) for one in gc.get_objects())

    before, most = alive(), []

    def made() -> Iterator[Trajectory]:
        for number in range(6):
            yield trajectory(number)
            most.append(alive() - before)

    write_trajectories(tmp_path / "out", made())
    for _ in read_trajectories(tmp_path / "out"):
        most.append(alive() - before)
    assert len(most) == 12
    assert max(most) <= 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"version": 1', "not valid JSON"),
        ("[]", "the line"),
        ('{"version": 2}', "version: found 2"),
        ('{"version": 1, "turns": 3}', "scenario: this field is missing"),
    ],
)
def test_a_wrong_line_is_named_and_those_before_it_are_read(
    tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "out.jsonl"
    write_trajectories(path, [trajectory(1)])
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    reading = read_trajectories(path)
    assert next(reading) == trajectory(1)
    with pytest.raises(UsageError, match=rf"out\.jsonl, line 3: .*{said}"):
        next(reading)


def test_a_missing_file_and_other_encodings_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read the trajectories"):
        next(read_trajectories(tmp_path / "none"))
    (tmp_path / "latin").write_bytes("{'ü'".encode("latin-1"))
    with pytest.raises(UsageError, match="not UTF-8"):
        next(read_trajectories(tmp_path / "latin"))


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CotuneError, match="Cannot write the trajectories"):
        write_trajectories(tmp_path / "file" / "out", [trajectory(1)])
