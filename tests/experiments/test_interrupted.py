"""A run that is killed or interrupted goes on where it was, and pays for nothing twice."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from cotune.experiments.run_record import RunRecord

from .command_line import cotune, journaled, paid, record, run_folder, same, start

TYPED = ("quickstart", "--model", "scripted:grocery?latency_ms=25&noise=0.1", "--no-mlflow")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """The record of a run that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cotune(*TYPED).code == 0
    return record(folder / "cotune-runs")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cotune-runs"


def _stop(sign: signal.Signals, after: int) -> tuple[int, str]:
    """Run until so many lines of progress were printed, send a signal, wait for the end."""
    with start(*TYPED) as process:
        assert process.stdout is not None
        lines = 0
        for line in process.stdout:
            lines += " rollouts, at most" in line
            if lines == after:
                process.send_signal(sign)
                break
        _, err = process.communicate(timeout=20)
    return process.returncode, err


def test_killed_twice_it_ends_as_if_nothing_had_been(whole: RunRecord, runs: Path) -> None:
    chance, kept = random.Random(1), 0
    for first, last in ((1, 8), (9, 28)):
        code, _ = _stop(signal.SIGKILL, chance.randint(first, last))
        assert code == -signal.SIGKILL
        assert kept < journaled(runs) < whole.rollouts
        kept = journaled(runs)
    assert cotune(*TYPED).code == 0
    one = record(runs)
    assert same(one) == same(whole)
    assert one.invocation.replayed == kept, "all that was journaled is replayed"
    assert kept + paid(one) == journaled(runs) == whole.rollouts


def test_interrupted_it_says_how_to_go_on_and_does(whole: RunRecord, runs: Path) -> None:
    code, err = _stop(signal.SIGINT, 5)
    assert code == 130
    assert "run the same command again" in err
    assert err.count("\n") == 1
    kept = journaled(runs)
    assert 0 < kept < whole.rollouts
    assert not (run_folder(runs) / "result.json").exists()
    assert cotune(*TYPED).code == 0
    assert record(runs).invocation.replayed == kept
    assert same(record(runs)) == same(whole)


def test_two_runs_at_once_do_not_share_a_journal(runs: Path) -> None:
    slow = [word.replace("latency_ms=25", "latency_ms=400") for word in TYPED]
    with start(*slow) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if " rollouts, at most" in line)
        said = cotune(*slow)
        process.kill()
        process.communicate()
    assert said.code == 1
    assert "in use by another run" in said.err
    assert said.err.count("\n") == 1
