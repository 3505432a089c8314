"""Progress: a bar with an estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..agents.counted import counted
from ..agents.errors import Fault
from ..optimizer.candidate import Candidate, Status

_MARKS = {
    Status.SEED: "·",
    Status.ACCEPTED: "+",
    Status.REJECTED: "-",
    Status.REFUSED: "x",
    Status.UNFINISHED: "?",
}


@dataclass(slots=True)
class _Lines:
    """A step's progress in words, at every tenth of it."""

    name: str
    total: int
    started: float
    done: int = 0

    def advance(self, now: float) -> str:
        """Count one rollout; return a line when a tenth is full, else nothing."""
        self.done += 1
        if self.done % max(1, self.total // 10):
            return ""
        left = (now - self.started) / self.done * max(0, self.total - self.done)
        return f"  {self.name}: {self.done} of {self.total} rollouts, at most {left:.0f} s left"


class RunProgress:
    """An `Observer` that shows a run to a person."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("rollouts"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._lines = _Lines("", 0, 0.0)
        self._replayed = 0
        self._faults = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()
        if self._replayed:
            self._console.print(
                f"{counted(self._replayed, 'rollout')} came from the journal, not paid again."
            )

    def step(self, name: str, rollouts: int) -> None:
        """Start a bar for a step; an earlier one that needed less is closed."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(name, total=rollouts)
        self._lines = _Lines(name, rollouts, time.monotonic())
        self._plain(f"{name}: at most {counted(rollouts, 'rollout')}")

    def rolled_out(self, *, replayed: bool, fault: Fault | None) -> None:
        """Advance the bar."""
        self._replayed += replayed
        if self._task is not None:
            self._bar.advance(self._task)
            self._plain(self._lines.advance(time.monotonic()))
        if fault is not None:
            self._faults += 1
            self._console.print(escape(f"  fault ({fault.origin}, {fault.kind}): {fault.message}"))

    def _plain(self, line: str) -> None:
        """Print a line where no bar can be drawn."""
        if line and not self._console.is_terminal:
            self._console.print(line, highlight=False)

    def considered(self, candidate: Candidate) -> None:
        """Print a line for the candidate."""
        val = candidate.val_score
        scored = f"val {val:.3f}" if val is not None else "not scored on val"
        line = f"  {_MARKS[candidate.status]} candidate {candidate.number}: {scored}"
        self._console.print(escape(f"{line}; {candidate.reason}"), highlight=False)
