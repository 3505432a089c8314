"""The live view of a simulation."""

from __future__ import annotations

from collections import Counter
from typing import Self

from rich.console import Console

from ..agents.counted import counted
from ..agents.errors import Fault
from ..agents.ledger import Ledger
from ..simulation.played import Played
from ..simulation.work import Work
from .conversation_bar import ConversationBar


class SimulationProgress:
    """A `SimulationObserver` that shows a simulation to a person."""

    def __init__(self, console: Console, ledger: Ledger, total: int) -> None:
        """Show nothing yet.

        Args:
            console: Where.
            ledger: Of the run, for calls and money.
            total: Conversations.
        """
        self._bar = ConversationBar(console, "simulate", total)
        self._ledger = ledger
        self._turns = 0
        self._faults: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.__exit__(*exception)

    def started(self, work: Work) -> None:
        """Nothing to show yet."""

    def played_again(self, work: Work, fault: Fault) -> None:
        """Count the fault."""
        self._faults[fault.origin] += 1

    def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
        """Advance the bar."""
        self._turns += len(played.trajectory.turns)
        if played.trajectory.fault is not None:
            self._faults[played.trajectory.fault.origin] += 1
        self._bar.advance(self._counts(), replayed=replayed)

    def _counts(self) -> str:
        spent = self._ledger.total
        faults = ", ".join(f"{count} {origin}" for origin, count in sorted(self._faults.items()))
        return (
            f"{counted(self._turns, 'turn')}, {counted(spent.calls, 'call')}, ${spent.cost:.2f}, "
            f"faults: {faults or 'none'}"
        )
