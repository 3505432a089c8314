"""The curves of a run, point by point as candidates are decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from ..optimizer.candidate import Candidate, Status
from ..optimizer.front import pareto_front
from .chronicle import Moment
from .record_parts import CandidateRecord
from .record_spending import MomentRecord


class Point(NamedTuple):
    """One value of a metric; the step is the number of rollouts used, unless its name says else."""

    name: str
    value: float
    step: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A candidate, as far as the curves need it.

    Attributes:
        accepted: Whether it joined the pool.
        rollouts: Rollouts used when it was decided.
        val_score: Mean score on val; None when it was not scored there.
        val: Score by val example, those that a fault hit left out.
    """

    accepted: bool
    rollouts: int
    val_score: float | None
    val: Mapping[str, float]

    @classmethod
    def of(cls, candidate: Candidate) -> Self:
        """Return it for a candidate of a run that goes on."""
        scores = {rollout.example: rollout.score for rollout in candidate.val}
        return cls._with(candidate.status, candidate.rollouts, candidate.val_score, scores)

    @classmethod
    def read(cls, record: CandidateRecord) -> Self:
        """Return it for a candidate of a finished run."""
        return cls._with(record.status, record.rollouts, record.val_score, record.val)

    @classmethod
    def _with(
        cls,
        status: Status,
        rollouts: int,
        val_score: float | None,
        scores: Mapping[str, float | None],
    ) -> Self:
        val = {name: score for name, score in scores.items() if score is not None}
        return cls(status is Status.ACCEPTED, rollouts, val_score, val)


@dataclass(slots=True)
class Curves:
    """Gives the points of one run, in order."""

    best: float = 0.0
    accepted: int = 0
    decided: int = 0
    _front: list[Mapping[str, float]] = field(default_factory=list)

    def candidate(self, one: Decided, usd: float) -> Iterator[Point]:
        """Yield the points of a candidate that was decided.

        Args:
            one: The candidate.
            usd: Money used until then; with none, there is no curve over money.
        """
        self.decided += 1
        self.accepted += one.accepted
        yield Point("candidates_decided", self.decided, one.rollouts)
        yield Point("candidates_accepted", self.accepted, one.rollouts)
        if one.val_score is None:
            return
        self.best = max(self.best, one.val_score)
        self._front.append(one.val)
        yield Point("val_score", one.val_score, one.rollouts)
        yield Point("val_best", self.best, one.rollouts)
        yield Point("front_size", len(pareto_front(self._front)), one.rollouts)
        if cents := round(usd * 100):
            yield Point("val_best_by_cent", self.best, cents)

    def moment(self, moment: Moment | MomentRecord) -> Iterator[Point]:
        """Yield the points of what was used at a moment."""
        yield Point("spent/tokens", moment.tokens, moment.rollouts)
        yield Point("spent/usd", round(moment.usd, 6), moment.rollouts)
        for origin, count in moment.faults.items():
            yield Point(f"faults/{origin}", count, moment.rollouts)
