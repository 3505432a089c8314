"""Attempts: a conversation is played until it ends without a fault that another try may avoid."""

from __future__ import annotations

from dataclasses import dataclass

from ..agents.errors import Fault, FaultOrigin
from ..agents.ledger import Spending
from .account import Account
from .engines.engine import Engine
from .observer import SimulationObserver
from .played import Played, added
from .work import Work

_PLAYED_AGAIN = {FaultOrigin.PROVIDER, FaultOrigin.INFRASTRUCTURE, FaultOrigin.USER}


@dataclass(frozen=True, slots=True)
class Attempts:
    """Plays units of work, each a few times at most.

    Attributes:
        engine: Where conversations are played.
        account: Which is told what an attempt without a result has cost.
        again: How often a conversation is played again after faults.
        observer: Who is told.
    """

    engine: Engine
    account: Account
    again: int
    observer: SimulationObserver

    async def play(self, work: Work, key: str) -> Played:
        """Play a unit; its last attempt comes back, with what all of them cost.

        Args:
            work: Which.
            key: Its journal key, to which all attempts are charged.
        """
        spent: Spending = {}
        try:
            played = await self.engine.play(work, key)
            for _ in range(self.again):
                fault = played.excluded_for
                if fault is None or fault.origin not in _PLAYED_AGAIN:
                    break
                spent = played.spending
                self.observer.played_again(work, fault)
                work = work.redrawn() if _would_recur(fault) else work
                played = (await self.engine.play(work, key)).after(played)
        except BaseException:  # cancelled, too, when a person stops the run
            self.account.spend_in_vain(added(spent, self.account.ledger.collect_parts(key)))
            raise
        return played


def _would_recur(fault: Fault) -> bool:
    """Whether the same seed leads to the same fault: it lies in what a model said."""
    return fault.origin is FaultOrigin.USER or fault.kind == "empty_reply"
