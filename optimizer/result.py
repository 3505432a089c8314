"""The result of a run: everything a report, a tracker or a reader needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..agents.errors import Fault
from ..agents.ledger import Ledger
from ..agents.prompts import PromptBundle
from ..rubrics.statistics import Conclusion
from .candidate import Candidate, Pool
from .held_out import HeldOut
from .plan import Plan
from .selection import Choice


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run found.

    Attributes:
        task: The task's name.
        plan: What the budget was to buy.
        pool: All candidates.
        choice: The winner and how it was chosen.
        held_out: The test, or None when the seed won or no pair could be compared.
        stopped: Why the search ended.
        faults: Rollouts lost to faults, the assistant's own not among them.
        ledger: All model calls.
        rollouts: Rollouts used, replayed ones included.
        seconds: Wall time of this invocation.
    """

    task: str
    plan: Plan
    pool: Pool
    choice: Choice
    held_out: HeldOut | None
    stopped: str
    faults: tuple[Fault, ...]
    ledger: Ledger
    rollouts: int
    seconds: float

    @property
    def seed(self) -> PromptBundle:
        """The prompts the run started from."""
        return self.pool.seed.bundle

    @property
    def winner(self) -> Candidate:
        """The chosen candidate; the seed itself when nothing was better."""
        return self.choice.winner

    @property
    def conclusion(self) -> Conclusion:
        """Improved, worse, or no evidence of either."""
        return Conclusion.NO_EVIDENCE if self.held_out is None else self.held_out.conclusion

    @property
    def val_gain(self) -> float | None:
        """Winner minus seed on val: what a maximum over val would claim."""
        seed, winner = self.pool.seed.val_score, self.winner.val_score
        return None if seed is None or winner is None else winner - seed

    @property
    def overfit(self) -> float | None:
        """Val gain minus test gain; None without a test."""
        if self.held_out is None or self.val_gain is None:
            return None
        return self.val_gain - self.held_out.overall.difference.mean

    def faults_by_origin(self) -> Mapping[str, int]:
        """Count the faults by who caused them."""
        return Counter(str(fault.origin) for fault in self.faults)
