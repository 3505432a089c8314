"""Tallies: what many rulings come to, kept as counters instead of the rulings themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import fsum, sqrt

from .aggregation import CriterionScore
from .ruling import Ruling, Standing
from .verdict import Status

_WORST = 5


@dataclass(slots=True)
class Moments:
    """Mean and spread of values that are seen one at a time (Welford's recurrence).

    Attributes:
        n: How many values.
        mean: Their mean; 0 when there is none.
    """

    n: int = 0
    mean: float = 0.0
    _squares: float = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.n += 1
        before = value - self.mean
        self.mean += before / self.n
        self._squares += before * (value - self.mean)

    @property
    def sd(self) -> float | None:
        """Standard deviation of the sample; None for fewer than two values."""
        return sqrt(self._squares / (self.n - 1)) if self.n > 1 else None


@dataclass(slots=True)
class CriterionTally:
    """What many conversations come to on one criterion.

    Attributes:
        values: The conversations' values.
        tiers: How often each value was given, turn by turn where there is a verdict for each.
        not_applicable: Conversations that it does not concern.
        inconclusive: Conversations about which nothing reliable could be said.
    """

    values: Moments = field(default_factory=Moments)
    tiers: Counter[float] = field(default_factory=Counter)
    not_applicable: int = 0
    inconclusive: int = 0

    def count(self, reached: CriterionScore, standing: Standing) -> None:
        """Count a conversation; one without a score only by what is inconclusive about it."""
        if reached.status is Status.INCONCLUSIVE:
            self.inconclusive += 1
        elif reached.value is None:
            self.not_applicable += 1
        elif standing is Standing.SCORED:
            self.values.add(reached.value)


@dataclass(slots=True)
class Tally:
    """What rulings come to.

    Attributes:
        standings: Conversations by what is known of them.
        faults: Why conversations have no score, by origin and kind.
        score: Scores, those of the assistant's own failures as 0.
        objective: The same after what critical failures zero.
        passed: Conversations that passed, did not, or where it is not known (None).
        critical: Conversations in which each critical criterion failed.
        domains: By domain id; failures of the assistant's own have no part in them.
        criteria: By criterion id, likewise.
        below_best: Verdicts below their best, for which somebody is to blame.
        blame: By agent and criterion, the sum of the shares in them.
        worst: The conversations with the lowest objective, the worst first.
        rubrics: Fingerprints of the rubrics met.
        judges: The models met that judged, each with the fingerprint of its prompts.
    """

    standings: Counter[Standing] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    score: Moments = field(default_factory=Moments)
    objective: Moments = field(default_factory=Moments)
    passed: Counter[bool | None] = field(default_factory=Counter)
    critical: Counter[str] = field(default_factory=Counter)
    domains: dict[str, Moments] = field(default_factory=dict)
    criteria: dict[str, CriterionTally] = field(default_factory=dict)
    below_best: int = 0
    blame: dict[str, dict[str, float]] = field(default_factory=dict)
    worst: list[Ruling] = field(default_factory=list)
    rubrics: set[str] = field(default_factory=set)
    judges: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, rulings: Iterable[Ruling]) -> Tally:
        """Count rulings, and keep none but the worst."""
        tally = cls()
        for _ in tally.counting(rulings):
            pass
        return tally

    def counting(self, rulings: Iterable[Ruling]) -> Iterator[Ruling]:
        """Count rulings while they are passed on."""
        for ruling in rulings:
            self.count(ruling)
            yield ruling

    @property
    def unblamed(self) -> int:
        """Verdicts below their best for which no agent can be blamed, for none was seen at work."""
        shares = (share for reasons in self.blame.values() for share in reasons.values())
        return self.below_best - round(fsum(shares))

    @property
    def counted(self) -> int:
        """Conversations that have a score, be it 0 for the assistant's own failure."""
        return self.standings[Standing.SCORED] + self.standings[Standing.FAILED]

    def count(self, ruling: Ruling) -> None:
        """Count one conversation."""
        self.standings[ruling.standing] += 1
        self.rubrics.add(ruling.by.get("rubric", ""))
        if "model" in ruling.by:
            self.judges.add((ruling.by["model"], ruling.by.get("prompts", "")))
        if ruling.fault is not None:
            self.faults[f"{ruling.fault.origin}/{ruling.fault.kind}"] += 1
        if ruling.counts:
            self._count_score(ruling)
        if ruling.score is not None:
            self._count_criteria(ruling)

    def _count_score(self, ruling: Ruling) -> None:
        self.passed[ruling.passed] += 1
        if ruling.overall is not None and ruling.objective is not None:
            self.score.add(ruling.overall)
            self.objective.add(ruling.objective)
        self.worst = sorted([*self.worst, ruling], key=_badness)[:_WORST]

    def _count_criteria(self, ruling: Ruling) -> None:
        assert ruling.score is not None
        for name, reached in ruling.score.criteria.items():
            self.criteria.setdefault(name, CriterionTally()).count(reached, ruling.standing)
        if ruling.standing is not Standing.SCORED:
            return
        self.critical.update(ruling.score.critical_failures)
        for name, value in ruling.score.domains.items():
            self.domains.setdefault(name, Moments()).add(value)
        for verdict in ruling.verdicts:
            if verdict.value is not None:
                self.criteria[verdict.criterion].tiers[verdict.value] += 1
                self.below_best += verdict.value < 1.0
        for share in ruling.blame:
            reasons = self.blame.setdefault(share.agent, {})
            reasons[share.criterion] = reasons.get(share.criterion, 0.0) + share.share


def _badness(ruling: Ruling) -> tuple[float, float, int]:
    """Order rulings, the worst first; one that passes or fails without points by that alone."""
    gate = 0.0 if ruling.passed is False else 1.0
    objective = gate if ruling.objective is None else ruling.objective
    return objective, gate if ruling.overall is None else ruling.overall, ruling.number
