"""The plan: what the budget buys, said before it is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..agents.errors import UsageError
from .example import Splits
from .settings import EngineSettings


@dataclass(frozen=True, slots=True)
class Plan:
    """Rollouts by step.

    Attributes:
        total: The limit.
        seed: Scoring the seed on val.
        per_candidate: One accepted candidate: parent and child on a minibatch, child on val.
        candidates: Accepted candidates that fit, at least.
        selection: Running the seed and the finalists again on val.
        test: Seed and winner on test.
    """

    total: int
    seed: int
    per_candidate: int
    candidates: int
    selection: int
    test: int

    @property
    def reserved(self) -> int:
        """Rollouts held back for selection and test."""
        return self.selection + self.test

    @property
    def search(self) -> int:
        """Rollouts the search may use, the seed's included."""
        return self.total - self.reserved


def make_plan(settings: EngineSettings, splits: Splits[Any]) -> Plan:
    """Divide the budget.

    Raises:
        UsageError: Rollouts are not limited, or the limit does not buy even one candidate.
    """
    val, test = len(splits.val), len(splits.test)
    minibatch = min(settings.search.minibatch, len(splits.train))
    tested = 2 * test * settings.test.repeats
    selected = (settings.selection.finalists + 1) * val * settings.selection.repeats
    per_candidate = 2 * minibatch + val
    total = settings.limits.rollouts
    needed = tested + selected + val + per_candidate
    if total is None or total < needed:
        found = "not set" if total is None else f"{total}, which does not buy one candidate"
        raise UsageError(
            f"limits.rollouts is {found}: test needs {tested} "
            f"(2 × {test} examples × {settings.test.repeats}), selection {selected} "
            f"(seed and {settings.selection.finalists} finalists × {val} val examples × "
            f"{settings.selection.repeats}), the seed {val}, one candidate {per_candidate}. "
            f"Allow at least {needed}, or lower selection.finalists."
        )
    candidates = (total - tested - selected - val) // per_candidate
    return Plan(total, val, per_candidate, candidates, selected, tested)
