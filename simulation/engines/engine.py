"""The contract between the simulator and whatever plays its work."""

from __future__ import annotations

from typing import Protocol

from ..played import Played
from ..work import Work


class Engine(Protocol):
    """Plays units of work, in this process or elsewhere.

    What comes of a unit depends on the unit alone, never on where, when or beside what it is
    played. An engine counts what it spends in the run's ledger and budget, and keeps nothing of
    a unit that has ended.
    """

    @property
    def concurrency(self) -> int:
        """How many units are played at once at most."""
        ...

    async def play(self, work: Work, key: str) -> Played:
        """Play one unit.

        Args:
            work: The unit.
            key: To which its model calls are charged.

        Raises:
            CotuneError: The run cannot go on: budget spent, model unusable.
        """
        ...

    async def aclose(self) -> None:
        """Free what the engine holds; no unit is in flight any more."""
        ...
