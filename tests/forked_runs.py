"""Runs in processes of their own that can be killed after so many calls; see `forking.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cotune.simulation.journal import Journal


@dataclass
class Forked:
    """What one process did: the journal keys of its calls, and what came of it if it ended."""

    calls: list[str] = field(default_factory=list)
    ended: Any = None

    def kept(self, path: Path) -> set[str]:
        """Return the keys of its calls that have a result in the journal."""
        return journaled(path, self.calls)


@dataclass
class ForkedRuns:
    """The process that runs are forked from."""

    process: subprocess.Popen[str]

    def play(self, path: Path, *, kill_after: int | None = None, wait: float = 0.0) -> Forked:
        """Run to the end, or kill the run some seconds after so many calls."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(path, file=self.process.stdin, flush=True)
        played, pid = Forked(), 0
        for line in self.process.stdout:
            match json.loads(line):
                case ["pid", number]:
                    pid = number
                case ["call", key]:
                    played.calls.append(key)
                case ["end", ended]:
                    played.ended = ended
                case ["gone", status]:
                    assert status in (0, signal.SIGKILL)
                    return played
            if pid and kill_after is not None and len(played.calls) >= kill_after:
                time.sleep(wait)
                with suppress(ProcessLookupError):  # on a busy machine it may have ended
                    os.kill(pid, signal.SIGKILL)
                pid = 0
        raise AssertionError("the process that runs are forked from is gone")


@contextmanager
def forked_runs(script: Path) -> Iterator[ForkedRuns]:
    """Start a script that forks a run for each line it reads."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        [sys.executable, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield ForkedRuns(process)
        assert process.stdin is not None
        process.stdin.close()


def journaled(path: Path, keys: list[str]) -> set[str]:
    """Return the keys that have a result in a journal."""
    with Journal(path) as journal:
        return {key for key in keys if journal.get(key) is not None}
