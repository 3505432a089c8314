"""The budget: hard limits on rollouts, tokens and money over all models together."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from pydantic import BaseModel, ConfigDict, Field

from .errors import CotuneError
from .ledger import Usage


class Limits(BaseModel):
    """What a run may spend at most; None is no limit.

    Attributes:
        rollouts: Scored rollouts (gepa's metric calls), the held-out test included.
        tokens: Input and output tokens over all models.
        usd: US dollars over all models.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rollouts: int | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)
    usd: float | None = Field(default=None, gt=0)


class BudgetExhaustedError(CotuneError):
    """The next step would cross a limit; nothing was sent."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"the budget is spent: {limit}")
        self.limit = limit


@dataclass(slots=True)
class Budget:
    """Counts what is spent and refuses what would cross a limit.

    Some rollouts are held back (`reserved`) for the steps after the search, so that a run
    always has enough left to choose its winner and test it. While some are, what they and the
    next step would take of tokens and money is estimated from the mean of the rollouts so far.

    Attributes:
        limits: The limits.
        reserved: Rollouts held back for later steps.
        rollouts: Rollouts started, replayed ones included: a resumed run counts as one run.
        usage: Tokens and money, replayed calls included.
    """

    limits: Limits
    reserved: int = 0
    rollouts: int = 0
    usage: Usage = field(default_factory=Usage)
    _adding: Lock = field(default_factory=Lock, repr=False, compare=False)

    def reserve(self, rollouts: int) -> None:
        """Hold back this many rollouts from now on."""
        self.reserved = rollouts

    def take(self, rollouts: int) -> None:
        """Count rollouts that are about to start.

        Raises:
            BudgetExhaustedError: They do not fit beside those held back.
        """
        limit = self.limits.rollouts
        if limit is not None and self.rollouts + rollouts + self.reserved > limit:
            raise BudgetExhaustedError(
                f"{self.rollouts} of {limit} rollouts are used, {self.reserved} are "
                f"held back for selection and test, and the next step needs {rollouts}"
            )
        if self.reserved and self.rollouts:
            ahead = rollouts + self.reserved
            self._check(self.usage, 1 + ahead / self.rollouts, f", and {ahead} rollouts are ahead")
        self.rollouts += rollouts

    def add(self, usage: Usage) -> None:
        """Count the tokens and money of a call; assistants may do so from threads of their own."""
        with self._adding:
            self.usage += usage

    def check_call(self) -> None:
        """Refuse a model call when tokens or money are spent.

        Raises:
            BudgetExhaustedError: A limit is reached.
        """
        self._check(self.usage, 1.0, "")

    def require_room(self, ended: Usage, count: int, in_flight: int) -> None:
        """Refuse to start a rollout when those in flight will probably use up what is left.

        Args:
            ended: Usage of the rollouts that have ended.
            count: How many those are; nothing is refused before one has ended.
            in_flight: Rollouts in flight, the one to be started included.

        Raises:
            BudgetExhaustedError: At the mean of those that ended, they would cross a limit.
        """
        if count:
            self._check(ended, 1 + in_flight / count, f", and {in_flight} are in flight")

    def _check(self, usage: Usage, share: float, ahead: str) -> None:
        """Refuse when `share` times `usage` reaches a limit."""
        tokens, usd = self.limits.tokens, self.limits.usd
        if tokens is not None and usage.tokens * share >= tokens:
            raise BudgetExhaustedError(
                f"{self.usage.tokens:,} of {tokens:,} tokens are used{ahead}"
            )
        if usd is not None and usage.cost * share >= usd:
            raise BudgetExhaustedError(f"${self.usage.cost:.4f} of ${usd:.4f} are used{ahead}")
