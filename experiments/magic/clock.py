"""The clock: a run that may only last so long, and a budget that stops in time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ...agents.budget import Budget, BudgetExhaustedError


@dataclass(slots=True)
class Clock:
    """Divides the time between stages; what one leaves, the later ones have.

    Attributes:
        minutes: How long it may last; None is no limit.
        ahead: Rollouts of all stages that have not begun, by which the time is divided.
    """

    minutes: float | None
    ahead: int
    _started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return time.monotonic() - self._started

    def grant(self, rollouts: int) -> float | None:
        """Return the seconds that the next stage may last, and count it as begun."""
        share, self.ahead = min(1.0, rollouts / max(1, self.ahead)), self.ahead - rollouts
        return None if self.minutes is None else max(0.0, 60 * self.minutes - self.seconds) * share


@dataclass(slots=True)
class TimedBudget(Budget):
    """A budget that also refuses what would last too long, at the pace so far.

    Attributes:
        most_seconds: How long it may last; None is no limit.
    """

    most_seconds: float | None = None
    _started: float = field(default_factory=time.monotonic)

    def take(self, rollouts: int) -> None:
        """Count rollouts that are about to start; see `Budget.take`."""
        if self.most_seconds is not None and rollouts:
            spent, ahead = time.monotonic() - self._started, rollouts + self.reserved
            pace = spent / self.rollouts if self.rollouts else 0.0
            if spent + pace * ahead >= self.most_seconds:
                raise BudgetExhaustedError(
                    f"{spent:.0f} of {self.most_seconds:.0f} seconds are over, and "
                    f"{ahead} rollouts are ahead"
                )
        Budget.take(self, rollouts)
