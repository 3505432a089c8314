"""The default engine: conversations side by side in this process's event loop."""

from __future__ import annotations

from ...agents.ledger import Role
from ..played import Played
from ..player import Player
from ..setup import conversations_at_once
from ..work import Work


class InProcess:
    """An `Engine` that plays where it is asked to."""

    def __init__(self, player: Player, concurrency: int = 64) -> None:
        """Open nothing.

        Args:
            player: Who plays; its models record what they spend.
            concurrency: Conversations in flight at most; fewer when the model takes fewer calls.
        """
        self._player = player
        task = player.models.get(Role.TASK)
        self.concurrency = conversations_at_once(concurrency, task and task.settings)

    async def play(self, work: Work, key: str) -> Played:
        """Play one unit; see `Engine.play`."""
        return await self._player.play(work, key)

    async def aclose(self) -> None:
        """Nothing is open."""
