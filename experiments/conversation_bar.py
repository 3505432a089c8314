"""A bar of conversations with an estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
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

from ..agents.counted import counted

_LINES = 10


class ConversationBar:
    """Shows how far a run over conversations has got."""

    def __init__(self, console: Console, verb: str, total: int) -> None:
        """Show nothing yet.

        Args:
            console: Where.
            verb: What is done to each, such as `simulate`.
            total: Conversations.
        """
        self._console = console
        self._total = total
        self._done = 0
        self._replayed = 0
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn(verb),
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
        self._task = self._bar.add_task(verb, total=total, counts="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()
        if self._replayed:
            self._console.print(
                f"{counted(self._replayed, 'conversation')} came from the journal, not paid again."
            )

    def advance(self, counts: str, *, replayed: bool) -> None:
        """Move on by one conversation, or print a line at every tenth part.

        Args:
            counts: What else to say.
            replayed: Whether it came from the journal.
        """
        self._done += 1
        self._replayed += replayed
        self._bar.update(self._task, advance=1, counts=counts)
        if not self._console.is_terminal and self._done % max(1, self._total // _LINES) == 0:
            done = f"{self._done} of {counted(self._total, 'conversation')}"
            line = f"  {done}, {counts}{self._left()}"
            self._console.print(line, highlight=False, soft_wrap=True)

    def _left(self) -> str:
        paid = self._done - self._replayed
        if not paid:
            return ""
        seconds = (time.monotonic() - self._started) / paid * (self._total - self._done)
        return f", about {seconds:.0f} s left"
