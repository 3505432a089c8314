"""The live view of a judging run."""

from __future__ import annotations

from collections import Counter
from typing import Self

from rich.console import Console

from ..agents.errors import Fault
from ..agents.ledger import Ledger
from ..rubrics.judging import Case
from .conversation_bar import ConversationBar


class JudgingProgress:
    """A `JudgingObserver` that shows a judging run to a person."""

    def __init__(self, console: Console, ledger: Ledger, total: int) -> None:
        """Show nothing yet.

        Args:
            console: Where.
            ledger: Of the run, for calls and money.
            total: Conversations.
        """
        self._bar = ConversationBar(console, "judge", total)
        self._ledger = ledger
        self._lost: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.__exit__(*exception)

    def decided(self, case: Case, *, replayed: bool) -> None:
        """Advance the bar."""
        self._bar.advance(self._counts(), replayed=replayed)

    def lost(self, case: Case, fault: Fault) -> None:
        """Advance the bar, and count the fault."""
        self._lost[fault.origin] += 1
        self._bar.advance(self._counts(), replayed=False)

    def _counts(self) -> str:
        spent = self._ledger.total
        lost = ", ".join(f"{count} {origin}" for origin, count in sorted(self._lost.items()))
        return f"{spent.calls:,} calls, ${spent.cost:.2f}, faults: {lost or 'none'}"
