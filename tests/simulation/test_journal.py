"""The journal keeps what was put, whatever happens to the process, and says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cotune.agents.errors import CotuneError
from cotune.simulation.journal import Journal

WRITER = """
import sys
from pathlib import Path
from cotune.simulation.journal import Journal

journal = Journal(Path(sys.argv[1]))
number = 0
while True:
    key = Journal.key("rollout", number)
    journal.put(key, {"score": number})
    print(number, flush=True)
    number += 1
"""


def test_what_was_put_is_read_back_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "run" / "journal.db"
    key = Journal.key("rollout", {"prompt": "Grüße", "seed": 1})
    with Journal(path) as journal:
        assert journal.get(key) is None
        journal.put(key, {"score": 0.5, "said": "Brötchen"})
        journal.write_note("mlflow_run", "a")
        journal.write_note("mlflow_run", "b")
    with Journal(path) as journal:
        assert journal.get(key) == {"score": 0.5, "said": "Brötchen"}
        assert journal.note("mlflow_run") == "b"
        assert journal.note("unknown") is None


def test_the_first_result_under_a_key_stays(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as journal:
        journal.put("rollout:1", {"score": 1.0})
        journal.put("rollout:1", {"score": 0.0})
        journal.put("verdict:1", {"passed": True})
        assert journal.get("rollout:1") == {"score": 1.0}
        assert journal.count("rollout") == 1
        assert journal.count("verdict") == 1
        assert journal.count("proposal") == 0


def test_a_key_depends_on_the_kind_and_the_content_but_not_on_the_order() -> None:
    assert Journal.key("a", {"x": 1, "y": 2}) == Journal.key("a", {"y": 2, "x": 1})
    assert Journal.key("a", {"x": 1}) != Journal.key("b", {"x": 1})
    assert Journal.key("a", {"x": 1}) != Journal.key("a", {"x": 2})


def test_nothing_that_was_put_is_lost_when_the_writer_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with _writer(path) as writer:
        written = [int(_line(writer)) for _ in range(50)]
        writer.kill()
    with Journal(path) as journal:
        assert journal.count("rollout") >= len(written)
        for number in written:
            assert journal.get(Journal.key("rollout", number)) == {"score": number}


def test_a_second_run_on_the_same_journal_is_refused_while_the_first_lives(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.db"
    with _writer(path) as writer:
        _line(writer)
        with pytest.raises(CotuneError, match="in use by another run"):
            Journal(path)
        assert writer.poll() is None, "the first run must not notice"
        writer.kill()
    with Journal(path) as journal:
        assert journal.count("rollout") >= 1


def test_a_second_journal_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Journal(path), pytest.raises(CotuneError, match="in use by another run"):
        Journal(path)
    Journal(path).close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(CotuneError, match=r"file/journal\.db.*--out"):
        Journal(tmp_path / "file" / "journal.db")
    with pytest.raises(CotuneError, match="--out"):
        Journal(tmp_path)


def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(b"this was never a journal" * 100)
    with pytest.raises(CotuneError, match=r"journal\.db cannot be used.*damaged"):
        Journal(path)
    assert path.read_bytes() == b"this was never a journal" * 100


def test_damage_inside_the_file_is_an_error_and_not_an_empty_result(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    keys = [Journal.key("rollout", number) for number in range(200)]
    with Journal(path) as journal:
        for key in keys:
            journal.put(key, {"said": "x" * 500})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\x00" * (len(content) // 2))

    def read_all() -> None:
        with Journal(path) as journal:
            for key in keys:
                assert journal.get(key) is not None

    with pytest.raises(CotuneError, match="damaged"):
        read_all()


def _writer(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the writer ended early"
    return line
