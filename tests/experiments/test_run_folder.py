"""A run's folder: several processes may try at once whether it can be written."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from cotune.agents.errors import CotuneError, UsageError
from cotune.experiments.run_folder import make_writable, named_run


def test_many_may_try_the_same_folder_at_once(tmp_path: Path) -> None:
    folder, together = tmp_path / "runs" / "one", Barrier(8)

    def try_often(_: int) -> None:
        together.wait()
        for _ in range(100):
            make_writable(folder)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(try_often, range(8)))
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CotuneError, match=r"cannot be written .*--out"):
        make_writable(tmp_path / "file" / "run")


def test_the_latest_run_is_the_one_that_ended_last(tmp_path: Path) -> None:
    for name, ended in (("first", 3), ("second", 9), ("third", 6)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text("{}")
        os.utime(tmp_path / name / "result.json", (ended, ended))
    (tmp_path / "unfinished").mkdir()
    assert named_run(Path("latest"), tmp_path) == tmp_path / "second"
    assert named_run(Path("third"), tmp_path) == tmp_path / "third"
    with pytest.raises(UsageError, match="No run has ended in"):
        named_run(Path("latest"), tmp_path / "nothing")
