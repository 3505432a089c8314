"""The parts of a run's record, and how each is read off the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from ..agents.ledger import Ledger, Sent
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
    those over single val examples, and over criteria and brevity together.
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

    @property
    def bundle(self) -> PromptBundle:
        """The prompts, without descriptions."""
        return PromptBundle.of(*(Prompt(agent, text) for agent, text in self.prompts.items()))


class FinalistRecord(Data):
    """A candidate that was run again on fresh repeats of val; see `Finalist`."""

    number: int
    fresh: float | None
    score: float


class CriterionRecord(Data):
    """A criterion of the rubric, and whether only a judge could decide it."""

    id: str
    name: str
    critical: bool
    needs_judge: bool


class FaultCount(Data):
    """How many rollouts a kind of fault excluded."""

    origin: str
    kind: str
    count: int


class UsageRecord(Data):
    """What one agent used in one role; see `Usage`."""

    role: str
    agent: str
    calls: int
    attempts: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int


class ReplayRecord(Data):
    """How many calls of one agent in one role were answered from the journal."""

    role: str
    agent: str
    calls: int


class SentRecord(Data):
    """One example of what was really sent to a model."""

    role: str
    agent: str
    sent: Sent


class Invocation(Data):
    """What differs between two invocations of the same run; everything else does not.

    Attributes:
        finished: When it ended, UTC, ISO 8601.
        seconds: Wall time.
        replays: Model calls whose answer came from the journal, per role and agent.
        errors: Calls that failed for good, by kind.
        sent: An example of what was sent per role, agent and model; nothing when all was replayed.
    """

    finished: str
    seconds: float
    replays: tuple[ReplayRecord, ...]
    errors: dict[str, int]
    sent: tuple[SentRecord, ...]

    @property
    def replayed(self) -> int:
        """Model calls whose answer came from the journal, all together."""
        return sum(one.calls for one in self.replays)

    def replayed_by(self, role: str, agent: str) -> int:
        """Those of one agent in one role."""
        return sum(one.calls for one in self.replays if (one.role, one.agent) == (role, agent))


def criteria_of(rubric: Rubric) -> tuple[CriterionRecord, ...]:
    """Return the criteria in the rubric's order."""
    return tuple(
        CriterionRecord(
            id=criterion.id,
            name=criterion.name,
            critical=criterion.critical,
            needs_judge=criterion.check is None,
        )
        for criterion in rubric.criteria
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
    )


def faults_of(result: RunResult) -> tuple[FaultCount, ...]:
    """Count the faults by origin and kind."""
    counts = Counter((str(fault.origin), fault.kind) for fault in result.faults)
    return tuple(
        FaultCount(origin=origin, kind=kind, count=count)
        for (origin, kind), count in sorted(counts.items())
    )


def usage_of(ledger: Ledger) -> tuple[UsageRecord, ...]:
    """Return what was used by role and agent.

    Replayed calls count as what they once cost; how many they are is told by the invocation.
    """
    rows = []
    for (role, agent), usage in sorted(ledger.totals.items()):
        counts = usage.to_json()
        del counts["replayed"]
        rows.append(UsageRecord(role=str(role), agent=agent, **counts))
    return tuple(rows)


def invocation_of(result: RunResult, finished: datetime) -> Invocation:
    """Return what only this invocation knows."""
    ledger = result.ledger
    return Invocation(
        finished=finished.isoformat(timespec="seconds"),
        seconds=round(result.seconds, 3),
        replays=tuple(
            ReplayRecord(role=str(role), agent=agent, calls=usage.replayed)
            for (role, agent), usage in sorted(ledger.totals.items())
            if usage.replayed
        ),
        errors=dict(sorted(ledger.errors.items())),
        sent=tuple(
            SentRecord(role=str(role), agent=agent, sent=sent)
            for (role, agent, _), sent in sorted(ledger.sent.items())
        ),
    )
