"""A run's folder: several processes may try at once whether it can be written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from cotune.agents.errors import CotuneError
from cotune.experiments.run_folder import make_writable


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
