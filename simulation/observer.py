"""What a simulation tells whoever watches it; it knows nothing about terminals."""

from __future__ import annotations

from typing import Protocol

from ..agents.errors import Fault
from .played import Played
from .work import Work


class SimulationObserver(Protocol):
    """Receives what happens, on the event loop's thread; calls and money are in the ledger."""

    def started(self, work: Work) -> None:
        """A conversation begins that is not in the journal."""
        ...

    def played_again(self, work: Work, fault: Fault) -> None:
        """A conversation is played again after a fault that is not the assistant's."""
        ...

    def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
        """A conversation has ended and is in the journal, or was read back from it."""
        ...


class Unwatched:
    """Watches nothing."""

    def started(self, work: Work) -> None:
        """Ignore it."""

    def played_again(self, work: Work, fault: Fault) -> None:
        """Ignore it."""

    def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
        """Ignore it."""
