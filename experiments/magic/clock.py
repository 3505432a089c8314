"""The clock: a run that may only last so long, and a budget that stops in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ...agents.budget import Budget, BudgetExhaustedError


@dataclass(slots=True)
class Clock:
    """Divides the time between stages; what one leaves, the later ones have.

    Attributes:
        minutes: How long it may last; None is no limit.
        ahead: Rollouts of all stages that have not begun, by which the time is divided.
        now: Tells the time, in seconds.
    """

    minutes: float | None
    ahead: int
    now: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.now()

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return self.now() - self._started

    def grant(self, rollouts: int) -> float | None:
        """Return the seconds that the next stage may last, and count it as begun."""
        share, self.ahead = min(1.0, rollouts / max(1, self.ahead)), self.ahead - rollouts
        return None if self.minutes is None else max(0.0, 60 * self.minutes - self.seconds) * share


@dataclass(slots=True)
class TimedBudget(Budget):
    """A budget that also refuses what would last too long, at the pace so far.

    Attributes:
        most_seconds: How long it may last; None is no limit.
        now: Tells the time, in seconds.
    """

    most_seconds: float | None = None
    now: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.now()

    def take(self, rollouts: int) -> None:
        """Count rollouts that are about to start; see `Budget.take`."""
        if self.most_seconds is not None and rollouts:
            spent, ahead = self.now() - self._started, rollouts + self.reserved
            pace = spent / self.rollouts if self.rollouts else 0.0
            if spent + pace * ahead >= self.most_seconds:
                raise BudgetExhaustedError(
                    f"{spent:.0f} of {self.most_seconds:.0f} seconds are over, and "
                    f"{ahead} rollouts are ahead"
                )
        Budget.take(self, rollouts)
