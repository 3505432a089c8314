"""The result of a run: everything a report, a tracker or a reader needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..agents.errors import Fault
from ..agents.ledger import Ledger
from ..agents.prompts import PromptBundle
from ..rubrics.statistics import Conclusion
from .acceptance import decide
from .candidate import Candidate, Pool
from .candidate_frame import candidate_frame
from .held_out import HeldOut
from .plan import Plan
from .selection import Choice
from .single_changes import SingleChange

if TYPE_CHECKING:
    from pandas import DataFrame


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
        single_changes: What each agent's part of the winner earns alone on val, where it changes
            several and the budget allowed to see.
        earlier_tests: Other winners that this folder's runs tested on the same examples before.
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
    earlier_tests: int = 0
    single_changes: tuple[SingleChange, ...] = ()

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
    def deployable(self) -> bool:
        """Whether the winner may be shipped: no critical criterion failed more often on test."""
        return self.held_out is None or self.held_out.deployable

    @property
    def val_gain(self) -> float | None:
        """Winner minus seed over all their rollouts on val, by which the winner was chosen."""
        for finalist in self.choice.finalists:
            if finalist.candidate.number == self.winner.number:
                return finalist.gain
        compared = decide(self.pool.seed.val, self.winner.val)
        return None if compared.before is None else compared.gain

    @property
    def overfit(self) -> float | None:
        """Val gain minus test gain; None without a test."""
        if self.held_out is None or self.val_gain is None:
            return None
        return self.val_gain - self.held_out.overall.difference.mean

    def to_dataframe(self) -> DataFrame:
        """Return a row for each candidate; see `candidate_frame`."""
        return candidate_frame(self.pool.candidates, self.winner.number)

    def _repr_html_(self) -> str:
        """Show conclusion and candidates in a notebook."""
        return Markup("<p><strong>{}</strong>: {}</p>{}").format(
            self.conclusion,
            self._said,
            Markup(self.to_dataframe().to_html()),  # noqa: S704
        )

    @property
    def _said(self) -> str:
        if self.held_out is None:
            return f"the test was not touched; {self.choice.reason}"
        tested, difference = self.held_out.overall, self.held_out.overall.difference
        bounds = (
            "no interval"
            if difference.low is None or difference.high is None
            else f"{difference.low:+.3f} to {difference.high:+.3f}"
        )
        return (
            f"on {self.held_out.examples} unseen examples the seed scores {tested.seed:.3f}, the "
            f"winner {tested.winner:.3f}; {difference.mean:+.3f} ({bounds})"
        )
