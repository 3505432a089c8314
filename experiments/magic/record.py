"""The record of a comparison: plain JSON, from which terminal, page and MLflow are fed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from ...agents.prompts import PromptBundle
from ...optimizer.held_out import HeldOut
from ...rubrics.statistics import Conclusion, Interval
from ..record_parts import Data
from ..run_record import RunAbout
from .arms import EXPLAINED, TITLES, Arm
from .comparison import Comparison
from .curves import CurvePoint
from .published import Published, published
from .stage_runner import StageEnd

FILE_NAME = "magic.json"


class NodeRecord(Data):
    """What came of one stage of an arm.

    Attributes:
        arm: Whose stage it was.
        node: The agent that was improved, or all together.
        allowed: Rollouts it might spend on search and selection.
        spent: Rollouts it looked at.
        candidates: How many were considered.
        accepted: How many of them joined the pool.
        winner: Number of the winner; 0 when nothing was better than the start.
        choice: Why.
        stopped: Why the search ended.
        conclusion: What the node's own held-out test says.
        val_gain: Winner minus start on val.
        test_gain: Winner minus start on the held-out scenarios; None when the start stayed.
        overfit: Val gain minus test gain.
        curve: Its candidates, for the figure.
    """

    arm: Arm
    node: str
    allowed: int
    spent: int
    candidates: int
    accepted: int
    winner: int
    choice: str
    stopped: str
    conclusion: Conclusion
    val_gain: float | None
    test_gain: float | None
    overfit: float | None
    curve: tuple[CurvePoint, ...]


class ArmRecord(Data):
    """One arm on the held-out scenarios; see `ArmScores`.

    `rollouts` is what its stages spent on search and selection.
    """

    arm: Arm
    title: str
    explained: str
    rollouts: int
    overall: Interval | None
    domains: dict[str, Interval]
    critical: dict[str, float]
    faults: int
    fingerprint: str
    prompts: dict[str, str]


class PairRecord(Data):
    """Two arms in pairs; see `Pair`."""

    before: Arm
    after: Arm
    held_out: HeldOut
    p_value: float


class MagicRecord(Data):
    """A finished comparison.

    Attributes:
        simulated: Whether a script answered in place of a language model.
        rollouts: Each arm's budget for search and selection.
        minutes: How long it might take; None is no limit.
        scenarios: Scenarios by split.
        domains: Names of the domains, by id, in the rubric's order.
        conversations: Played, over all invocations; stages share them.
        calls: Model calls that this invocation paid for.
        seconds: Wall time of this invocation.
    """

    format: Literal[1] = 1
    name: str
    simulated: bool
    command: str
    config: dict[str, Any]
    versions: dict[str, str]
    rollouts: int
    minutes: float | None
    scenarios: dict[str, int]
    domains: dict[str, str]
    arms: tuple[ArmRecord, ...]
    pairs: tuple[PairRecord, ...]
    nodes: tuple[NodeRecord, ...]
    published: Published
    conversations: int
    calls: int
    seconds: float

    def arm(self, arm: Arm) -> ArmRecord:
        """Return an arm."""
        return next(one for one in self.arms if one.arm is arm)

    def pair(self, before: Arm, after: Arm) -> HeldOut | None:
        """Return two arms in pairs; None when faults left nothing to compare."""
        found = (one.held_out for one in self.pairs if (one.before, one.after) == (before, after))
        return next(found, None)

    def save(self, folder: Path) -> Path:
        """Write it into a folder and return its path."""
        path = folder / FILE_NAME
        path.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return path


def node_record(end: StageEnd, curve: tuple[CurvePoint, ...]) -> NodeRecord:
    """Return the record of a stage."""
    result = end.result
    held_out = None if result is None else result.held_out
    pool = [] if result is None else result.pool.candidates
    return NodeRecord(
        arm=end.stage.arm,
        node=end.stage.node,
        allowed=end.stage.rollouts,
        spent=end.spent,
        candidates=max(0, len(pool) - 1),
        accepted=0 if result is None else len(result.pool.scored()) - 1,
        winner=0 if result is None else result.winner.number,
        choice="the start stays" if result is None else result.choice.reason,
        stopped=end.stopped,
        conclusion=Conclusion.NO_EVIDENCE if result is None else result.conclusion,
        val_gain=None if result is None else result.val_gain,
        test_gain=None if held_out is None else held_out.overall.difference.mean,
        overfit=None if result is None else result.overfit,
        curve=curve,
    )


def arm_records(
    arms: Mapping[Arm, PromptBundle], ends: Iterable[StageEnd], compared: Comparison
) -> tuple[ArmRecord, ...]:
    """Return the records of all arms."""
    return tuple(
        ArmRecord(
            arm=arm,
            title=TITLES[arm],
            explained=EXPLAINED[arm],
            rollouts=sum(end.spent for end in ends if end.stage.arm is arm),
            overall=scores.overall,
            domains=dict(scores.domains),
            critical=dict(scores.critical),
            faults=scores.faults,
            fingerprint=arms[arm].fingerprint,
            prompts=arms[arm].texts(),
        )
        for arm, scores in compared.arms.items()
    )


def pair_records(compared: Comparison) -> tuple[PairRecord, ...]:
    """Return the records of all pairs of arms."""
    return tuple(
        PairRecord(before=one.before, after=one.after, held_out=one.held_out, p_value=one.p_value)
        for one in compared.pairs
    )


def magic_record(about: RunAbout, **parts: Any) -> MagicRecord:
    """Return the record of a comparison."""
    return MagicRecord(
        name=about.name,
        simulated=about.simulated,
        command=about.command,
        config=dict(about.config),
        versions=dict(about.versions),
        domains={domain.id: domain.name for domain in about.rubric.domains},
        published=published(),
        **parts,
    )
