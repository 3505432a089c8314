"""Killed at any moment and run again, a run ends as if nothing had been, and pays nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cotune.simulation.journal import Journal

CONCURRENCY = 8
KILLS = 10
LATENCY = 0.01

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


@dataclass
class Played:
    """What one process did: the journal keys of its model calls, and its result if it ended."""

    calls: list[str] = field(default_factory=list)
    outcome: dict[str, Any] | None = None

    def kept(self, path: Path) -> set[str]:
        """Return the keys of its calls that have a result in the journal."""
        with Journal(path) as journal:
            return {key for key in self.calls if journal.get(key) is not None}


@dataclass
class Runs:
    """The process that runs are forked from."""

    process: subprocess.Popen[str]

    def play(self, journal: Path, *, kill_after: int | None = None, wait: float = 0.0) -> Played:
        """Run to the end, or kill the run some seconds after so many calls have begun."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(journal, file=self.process.stdin, flush=True)
        played, pid = Played(), 0
        for line in self.process.stdout:
            match json.loads(line):
                case ["pid", number]:
                    pid = number
                case ["call", key]:
                    played.calls.append(key)
                case ["end", outcome]:
                    played.outcome = outcome
                case ["gone", status]:
                    assert status in (0, signal.SIGKILL)
                    return played
            if pid and len(played.calls) == kill_after:
                time.sleep(wait)
                with suppress(ProcessLookupError):  # on a busy machine it may have ended
                    os.kill(pid, signal.SIGKILL)
                pid = 0
        raise AssertionError("the process that runs are forked from is gone")


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    command = [sys.executable, Path(__file__).with_name("killable.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Runs(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def whole(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A run that nothing interrupts."""
    played = runs.play(tmp_path_factory.mktemp("whole") / "journal")
    assert played.outcome is not None
    assert len(played.outcome["candidates"]) > 3
    assert played.outcome["held_out"] is not None
    assert len(set(played.calls)) == len(played.calls) > 80
    assert any(key.startswith("proposal:") for key in played.calls)
    return played


def test_killed_at_ten_random_points_and_run_again(
    runs: Runs, whole: Played, tmp_path: Path
) -> None:
    chance = random.Random(2)
    for point in chance.sample(range(1, len(whole.calls) - 2 * CONCURRENCY), KILLS):
        path = tmp_path / f"{point}"
        killed = runs.play(path, kill_after=point, wait=chance.random() * LATENCY)
        kept = killed.kept(path)
        assert killed.outcome in (None, whole.outcome)
        assert len(killed.calls) - len(kept) <= CONCURRENCY, "only what was in flight is lost"
        rest = runs.play(path)
        assert rest.outcome == whole.outcome
        assert kept.isdisjoint(rest.calls), "what is in the journal is never asked again"
        assert len(kept) + len(rest.calls) == len(whole.calls)


def test_killed_again_and_again_it_still_gets_there(
    runs: Runs, whole: Played, tmp_path: Path
) -> None:
    path, chance = tmp_path / "journal", random.Random(3)
    kept: set[str] = set()
    while len(kept) + 2 * CONCURRENCY < len(whole.calls):
        killed = runs.play(path, kill_after=14, wait=chance.random() * LATENCY)
        assert kept.isdisjoint(killed.calls)
        kept |= killed.kept(path)
    assert runs.play(path).outcome == whole.outcome
    assert runs.play(path) == Played([], whole.outcome), "a run that has ended costs nothing"
