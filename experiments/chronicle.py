"""The chronicle of a run: what was used at each of its stages and when each candidate was decided.

It is an observer that counts; whoever wants to know at once is told on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ..agents.errors import Fault
from ..agents.ledger import Ledger
from ..optimizer.candidate import Candidate
from ..optimizer.observer import Observer


@dataclass(slots=True)
class Stage:
    """One stage of a run.

    Attributes:
        name: `noise`, `search`, `selection`, `test` or `single changes`.
        planned: Rollouts it may use.
        rollouts: Rollouts it used, replayed ones included.
        faults: Rollouts it lost, by the origin of the fault.
    """

    name: str
    planned: int
    rollouts: int = 0
    faults: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Moment:
    """What was used when something was decided or a stage began.

    Attributes:
        stage: In which stage it was.
        candidate: The candidate that was decided; None when a stage began.
        rollouts: Rollouts ended so far, replayed ones included.
        tokens: Tokens used so far over all models, replayed calls included.
        usd: Money in US dollars, likewise.
        faults: Rollouts lost so far, by the origin of the fault.
    """

    stage: str
    candidate: int | None
    rollouts: int
    tokens: int
    usd: float
    faults: dict[str, int]


class Chronicle:
    """An `Observer` that keeps the stages and moments of a run."""

    def __init__(
        self, ledger: Ledger, told: Callable[[Moment, Candidate | None], None] | None = None
    ) -> None:
        """Keep nothing yet.

        Args:
            ledger: Of the run.
            told: Told of each moment, with the candidate that was decided; it must be quick.
        """
        self.stages: list[Stage] = []
        self.moments: list[Moment] = []
        self._ledger = ledger
        self._told = told

    def step(self, name: str, rollouts: int) -> None:
        """Begin a stage."""
        self.stages.append(Stage(name, rollouts))
        if rollouts:
            self._keep(None)

    def rolled_out(self, *, replayed: bool, fault: Fault | None) -> None:
        """Count a rollout."""
        stage = self.stages[-1]
        stage.rollouts += 1
        if fault is not None:
            stage.faults[str(fault.origin)] += 1

    def considered(self, candidate: Candidate) -> None:
        """Note what was used when the candidate was decided."""
        self._keep(candidate)

    def _keep(self, candidate: Candidate | None) -> None:
        spent = self._ledger.total
        faults: Counter[str] = sum((stage.faults for stage in self.stages), Counter())
        moment = Moment(
            stage=self.stages[-1].name,
            candidate=None if candidate is None else candidate.number,
            rollouts=sum(stage.rollouts for stage in self.stages),
            tokens=spent.tokens,
            usd=spent.cost,
            faults=dict(faults),
        )
        self.moments.append(moment)
        if self._told is not None:
            self._told(moment, candidate)


@dataclass(frozen=True, slots=True)
class Together:
    """Several observers as one.

    Attributes:
        observers: They are told in this order.
    """

    observers: tuple[Observer, ...]

    def step(self, name: str, rollouts: int) -> None:
        """A stage begins."""
        for each in self.observers:
            each.step(name, rollouts)

    def rolled_out(self, *, replayed: bool, fault: Fault | None) -> None:
        """A rollout has ended."""
        for each in self.observers:
            each.rolled_out(replayed=replayed, fault=fault)

    def considered(self, candidate: Candidate) -> None:
        """A candidate was decided."""
        for each in self.observers:
            each.considered(candidate)
