"""What a run used, stage by stage and model by model, as parts of its record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from ..agents.ledger import Ledger, Sent
from ..optimizer.result import RunResult
from .chronicle import Moment, Stage
from .record_parts import Data


class StageRecord(Data):
    """What a stage of the run was to use and used; see `Stage`."""

    name: str
    planned: int
    rollouts: int
    faults: dict[str, int]


class MomentRecord(Data):
    """What was used when a candidate was decided or a stage began; see `Moment`."""

    stage: str
    candidate: int | None
    rollouts: int
    tokens: int
    usd: float
    faults: dict[str, int]


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
        moments: What was used along the way.
    """

    finished: str
    seconds: float
    replays: tuple[ReplayRecord, ...]
    errors: dict[str, int]
    sent: tuple[SentRecord, ...]
    moments: tuple[MomentRecord, ...] = ()

    @property
    def replayed(self) -> int:
        """Model calls whose answer came from the journal, all together."""
        return sum(one.calls for one in self.replays)

    def replayed_by(self, role: str, agent: str) -> int:
        """Those of one agent in one role."""
        return sum(one.calls for one in self.replays if (one.role, one.agent) == (role, agent))


def stages_of(stages: Iterable[Stage]) -> tuple[StageRecord, ...]:
    """Return the stages that used or might have used something."""
    return tuple(
        StageRecord(
            name=stage.name,
            planned=stage.planned,
            rollouts=stage.rollouts,
            faults=dict(sorted(stage.faults.items())),
        )
        for stage in stages
        if stage.planned or stage.rollouts
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


def invocation_of(result: RunResult, finished: datetime, moments: Iterable[Moment]) -> Invocation:
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
        moments=tuple(MomentRecord(**asdict(moment)) for moment in moments),
    )
