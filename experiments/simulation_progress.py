"""The live view of a simulation: a bar with an estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..agents.errors import Fault
from ..agents.ledger import Ledger
from ..simulation.played import Played
from ..simulation.work import Work

_LINES = 10


class SimulationProgress:
    """A `SimulationObserver` that shows a simulation to a person."""

    def __init__(self, console: Console, ledger: Ledger, total: int) -> None:
        """Show nothing yet.

        Args:
            console: Where.
            ledger: Of the run, for calls and money.
            total: Conversations.
        """
        self._console = console
        self._ledger = ledger
        self._total = total
        self._done = 0
        self._replayed = 0
        self._turns = 0
        self._faults: Counter[str] = Counter()
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn("simulate"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("conversations"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[counts]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("simulate", total=total, counts="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()
        if self._replayed:
            self._console.print(
                f"{self._replayed} conversations came from the journal, not paid again."
            )

    def started(self, work: Work) -> None:
        """Nothing to show yet."""

    def played_again(self, work: Work, fault: Fault) -> None:
        """Count the fault."""
        self._faults[fault.origin] += 1

    def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
        """Advance the bar, or print a line at every tenth."""
        self._done += 1
        self._replayed += replayed
        self._turns += len(played.trajectory.turns)
        if played.trajectory.fault is not None:
            self._faults[played.trajectory.fault.origin] += 1
        self._bar.update(self._task, advance=1, counts=self._counts())
        if not self._console.is_terminal and self._done % max(1, self._total // _LINES) == 0:
            line = f"  {self._done} of {self._total} conversations, {self._counts()}{self._left()}"
            self._console.print(line, highlight=False, soft_wrap=True)

    def _counts(self) -> str:
        spent = self._ledger.total
        faults = ", ".join(f"{count} {origin}" for origin, count in sorted(self._faults.items()))
        return (
            f"{self._turns:,} turns, {spent.calls:,} calls, ${spent.cost:.2f}, "
            f"faults: {faults or 'none'}"
        )

    def _left(self) -> str:
        played = self._done - self._replayed
        if not played:
            return ""
        seconds = (time.monotonic() - self._started) / played * (self._total - self._done)
        return f", about {seconds:.0f} s left"
