"""Rollouts: one example played once with one candidate, and what it was worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any

from ..agents.errors import Fault, FaultOrigin
from ..agents.ledger import Spending, Usage
from ..simulation.played import spending_from_json, spending_to_json
from .case import Case


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one agent can learn from one rollout.

    Attributes:
        inputs: What the agent received, as the model read it.
        output: What it returned, as the model wrote it.
        expected: What it should have returned in the same form; empty when unknown.
        rule: The rule that decides it; empty when unknown.
        feedback: What was wrong, criterion by criterion; empty when nothing was.
        criterion: The one that failed, where it is about one only.
    """

    inputs: str
    output: str
    expected: str
    rule: str
    feedback: str
    criterion: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is something to mend."""
        return bool(self.feedback)


@dataclass(frozen=True, slots=True)
class Rollout:
    """One scored rollout, or the fault that kept it from being scored.

    Attributes:
        example: The example's id.
        score: 0 to 1; None when a fault excludes it.
        objectives: Score per criterion or domain, 0 to 1, of those that applied.
        critical_failures: Critical criteria that failed.
        lessons: What each agent can learn, by agent name, the gravest first.
        blame: Points lost through each agent's fault; empty when nothing was lost.
        applied: Criteria that were decided, passed or failed.
        case: The conversation that lost them, where the rollout was one.
        spending: What it used, by model role and agent.
        fault: Why there is no score.
    """

    example: str
    score: float | None
    objectives: Mapping[str, float] = field(default_factory=dict)
    critical_failures: tuple[str, ...] = ()
    lessons: Mapping[str, Sequence[Lesson]] = field(default_factory=dict)
    blame: Mapping[str, float] = field(default_factory=dict)
    applied: tuple[str, ...] = ()
    case: Case | None = None
    spending: Spending = field(default_factory=dict)
    fault: Fault | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary for the journal."""
        return {**asdict(self), "spending": spending_to_json(self.spending)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rollout:
        """Read back what `to_json` wrote."""
        fault, case = data["fault"], data["case"]
        return cls(
            example=data["example"],
            score=data["score"],
            objectives=data["objectives"],
            critical_failures=tuple(data["critical_failures"]),
            lessons={
                agent: tuple(Lesson(**lesson) for lesson in lessons)
                for agent, lessons in data["lessons"].items()
            },
            blame=data["blame"],
            applied=tuple(data["applied"]),
            case=case and Case.from_json(case),
            spending=spending_from_json(data["spending"]),
            fault=fault and Fault(FaultOrigin(fault["origin"]), fault["kind"], fault["message"]),
        )


def usage_of(rollouts: Sequence[Rollout]) -> Usage:
    """Return what rollouts used together."""
    return sum((sum(one.spending.values(), Usage()) for one in rollouts), Usage())


def scored_pairs(
    before: Sequence[Rollout], after: Sequence[Rollout]
) -> list[tuple[Rollout, Rollout]]:
    """Pair rollouts of the same examples, leaving out those that a fault hit on either side.

    Raises:
        ValueError: The two are not of the same examples in the same order.
    """
    pairs = list(zip(before, after, strict=True))
    for one, other in pairs:
        if one.example != other.example:
            raise ValueError(f"rollouts of '{one.example}' and '{other.example}' are no pair")
    return [pair for pair in pairs if pair[0].score is not None and pair[1].score is not None]


def mean_score(rollouts: Sequence[Rollout]) -> float | None:
    """Return the mean over the scored rollouts, or None when there is none."""
    scores = [rollout.score for rollout in rollouts if rollout.score is not None]
    return fsum(scores) / len(scores) if scores else None  # whatever order they come in


def mean_objectives(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the mean of each objective over the rollouts in which it applied."""
    values: dict[str, list[float]] = {}
    for rollout in rollouts:
        for name, value in rollout.objectives.items():
            values.setdefault(name, []).append(value)
    return {name: sum(found) / len(found) for name, found in sorted(values.items())}
