"""A customer who says given messages, whatever the assistant answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..scenario import Scenario
from ..trajectory import StopReason, Trajectory
from ..user import Say, Stop, UserMove


@dataclass(frozen=True, slots=True)
class FixedUsers:
    """Customers who say these messages, one per turn, and then stop with `SCRIPT_ENDED`."""

    messages: Sequence[str]

    @property
    def identity(self) -> Mapping[str, Any]:
        """The messages."""
        return {"user": "fixed", "messages": list(self.messages)}

    def start(self, scenario: Scenario, seed: int) -> FixedUsers:
        """Return this customer, who remembers nothing."""
        return self

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        """Say the next message."""
        said = len(so_far.turns)
        if said >= len(self.messages):
            return Stop(StopReason.SCRIPT_ENDED)
        return Say(self.messages[said])
