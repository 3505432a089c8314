"""The summary of a simulation: counters, kept instead of the conversations themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..agents.errors import Fault, FaultOrigin
from ..agents.ledger import Usage
from .played import Played
from .trajectory import StopReason

FaultCounts = Counter[tuple[FaultOrigin, str]]
"""How often each fault occurred, by origin and kind."""


@dataclass(slots=True)
class Summary:
    """What came of a simulation so far.

    Attributes:
        conversations: Conversations that have ended, however they did.
        replayed: Those of them that were in the journal.
        turns: Exchanges of all of them.
        usage: What all of them used, earlier attempts included.
        stops: Why they ended.
        excluded: Faults that excluded a conversation from being scored.
        failed: Faults that ended a conversation and are the assistant's own.
        played_again: Faults after which a conversation was played again.
        turn_problems: Customer turns that a quality check refused, by kind.
    """

    conversations: int = 0
    replayed: int = 0
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    stops: Counter[StopReason] = field(default_factory=Counter)
    excluded: FaultCounts = field(default_factory=Counter)
    failed: FaultCounts = field(default_factory=Counter)
    played_again: FaultCounts = field(default_factory=Counter)
    turn_problems: Counter[str] = field(default_factory=Counter)

    def count(self, played: Played, *, replayed: bool) -> None:
        """Count a conversation that has ended."""
        trajectory = played.trajectory
        self.conversations += 1
        self.replayed += replayed
        self.turns += len(trajectory.turns)
        self.usage += sum(played.spending.values(), Usage())
        self.stops[trajectory.stop] += 1
        self.played_again.update(_name(fault) for fault in played.earlier)
        self.turn_problems.update(trajectory.metadata.get("turn_problems", {}))
        if trajectory.fault is not None:
            faults = self.failed if played.excluded_for is None else self.excluded
            faults[_name(trajectory.fault)] += 1


def _name(fault: Fault) -> tuple[FaultOrigin, str]:
    return fault.origin, fault.kind
