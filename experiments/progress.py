"""Progress: a bar with an estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
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
from ..agents.ledger import Ledger
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
    noun: str
    done: int = 0

    def advance(self, now: float) -> str:
        """Count one rollout; return a line when a tenth is full, else nothing."""
        self.done += 1
        if self.done % max(1, self.total // 10):
            return ""
        left = (now - self.started) / self.done * max(0, self.total - self.done)
        done = f"{self.done} of {counted(self.total, self.noun)}"
        return f"  {self.name}: {done}, at most {left:.0f} s left"


class RunProgress:
    """An `Observer` that shows a run to a person."""

    def __init__(self, console: Console, ledger: Ledger, noun: str = "rollout") -> None:
        """Show nothing yet.

        Args:
            console: Where.
            ledger: Of the run, for money.
            noun: What a rollout is called.
        """
        self._console = console
        self._ledger = ledger
        self._noun = noun
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(f"{noun}s"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[counts]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._lines = _Lines("", 0, 0.0, noun)
        self._replayed = 0
        self._faults: Counter[str] = Counter()
        self._best: float | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()
        if self._replayed:
            self._console.print(
                f"{counted(self._replayed, self._noun)} came from the journal, not paid again."
            )

    def step(self, name: str, rollouts: int) -> None:
        """Start a bar for a step that does something; an earlier one that needed less is closed."""
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        if rollouts:
            self._task = self._bar.add_task(name, total=rollouts, counts=self._counts())
            self._lines = _Lines(name, rollouts, time.monotonic(), self._noun)
            self._plain(f"{name}: at most {counted(rollouts, self._noun)}")

    def rolled_out(self, *, replayed: bool, fault: Fault | None) -> None:
        """Advance the bar."""
        self._replayed += replayed
        if fault is not None:
            self._faults[fault.origin] += 1
        if self._task is not None:
            self._bar.update(self._task, advance=1, counts=self._counts())
            if line := self._lines.advance(time.monotonic()):
                self._plain(f"{line}, {self._counts()}")
        if fault is not None:
            self._console.print(escape(f"  fault ({fault.origin}, {fault.kind}): {fault.message}"))

    def _counts(self) -> str:
        """Say what was spent, what was lost and how far it has got."""
        faults = ", ".join(f"{count} {origin}" for origin, count in sorted(self._faults.items()))
        best = "" if self._best is None else f", best val {self._best:.3f}"
        return f"${self._ledger.total.cost:.2f}, faults: {faults or 'none'}{best}"

    def _plain(self, line: str) -> None:
        """Print a line where no bar can be drawn."""
        if line and not self._console.is_terminal:
            self._console.print(line, highlight=False, soft_wrap=True)

    def considered(self, candidate: Candidate) -> None:
        """Print a line for the candidate."""
        val = candidate.val_score
        if val is not None:
            self._best = val if self._best is None else max(self._best, val)
        scored = f"val {val:.3f}" if val is not None else "not scored on val"
        line = f"  {_MARKS[candidate.status]} candidate {candidate.number}: {scored}"
        self._console.print(escape(f"{line}; {candidate.reason}"), highlight=False)
