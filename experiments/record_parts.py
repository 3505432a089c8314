"""The parts of a run's record, and how each is read off the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from ..agents.prompts import Prompt, PromptBundle
from ..optimizer.candidate import Candidate, Status
from ..optimizer.front import example_front, examples_won, objective_front
from ..optimizer.result import RunResult
from ..rubrics.rubric import Rubric


class Data(BaseModel):
    """A part of a record."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CandidateRecord(Data):
    """A candidate; see `Candidate` for what the fields mean.

    `wins` counts the val examples on which no other candidate scores higher. The fronts are
    those over single val examples, and over criteria (domains, where an example is a conversation)
    and brevity together. `val` has the score of each val example; None where a fault hit it.
    """

    number: int
    parent: int | None
    status: Status
    reason: str
    rollouts: int
    before: float | None
    after: float | None
    val_score: float | None
    objectives: dict[str, float]
    length: int
    wins: int
    on_example_front: bool
    on_objective_front: bool
    fingerprint: str
    prompts: dict[str, str]
    diagnosis: str = ""
    val: dict[str, float | None] = {}

    @property
    def bundle(self) -> PromptBundle:
        """The prompts, without descriptions."""
        return PromptBundle.of(*(Prompt(agent, text) for agent, text in self.prompts.items()))


class FinalistRecord(Data):
    """A candidate that was run again on fresh repeats of val; see `Finalist`."""

    number: int
    fresh: float | None
    score: float
    gain: float
    shrunk: float


class CriterionRecord(Data):
    """A criterion of the rubric, its domain, and whether only a judge could decide it."""

    id: str
    name: str
    critical: bool
    needs_judge: bool
    domain: str = ""


class DomainRecord(Data):
    """A domain of the rubric; the weights of all sum to 100."""

    id: str
    name: str
    weight: float


class FaultCount(Data):
    """How many rollouts a kind of fault excluded."""

    origin: str
    kind: str
    count: int


def criteria_of(rubric: Rubric) -> tuple[CriterionRecord, ...]:
    """Return the criteria in the rubric's order."""
    return tuple(
        CriterionRecord(
            id=criterion.id,
            name=criterion.name,
            critical=criterion.critical,
            needs_judge=criterion.check is None,
            domain=criterion.domain,
        )
        for criterion in rubric.criteria
    )


def domains_of(rubric: Rubric) -> tuple[DomainRecord, ...]:
    """Return the domains in the rubric's order."""
    return tuple(
        DomainRecord(id=domain.id, name=domain.name, weight=domain.weight)
        for domain in rubric.domains
    )


def candidates_of(result: RunResult) -> tuple[CandidateRecord, ...]:
    """Return all candidates with their places on the fronts."""
    scored = result.pool.scored()
    wins = examples_won(scored)
    fronts = example_front(scored), objective_front(scored)
    return tuple(_candidate(one, wins, *fronts) for one in result.pool.candidates)


def _candidate(
    one: Candidate, wins: Mapping[int, int], by_example: list[int], by_objective: list[int]
) -> CandidateRecord:
    return CandidateRecord(
        number=one.number,
        parent=one.parent,
        status=one.status,
        reason=one.reason,
        rollouts=one.rollouts,
        before=one.before,
        after=one.after,
        val_score=one.val_score,
        objectives=dict(one.objectives),
        length=one.bundle.length,
        wins=wins.get(one.number, 0),
        on_example_front=one.number in by_example,
        on_objective_front=one.number in by_objective,
        fingerprint=one.bundle.fingerprint,
        prompts=one.bundle.texts(),
        diagnosis=one.diagnosis,
        val={rollout.example: rollout.score for rollout in one.val},
    )


def faults_of(result: RunResult) -> tuple[FaultCount, ...]:
    """Count the faults by origin and kind."""
    counts = Counter((str(fault.origin), fault.kind) for fault in result.faults)
    return tuple(
        FaultCount(origin=origin, kind=kind, count=count)
        for (origin, kind), count in sorted(counts.items())
    )
