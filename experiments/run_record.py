"""The record of a finished run: plain JSON, from which every report and tracker is fed."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import model_validator

from ..agents.ledger import Usage
from ..agents.redact import public, public_json
from ..optimizer.held_out import HeldOut
from ..optimizer.plan import Plan
from ..optimizer.result import RunResult
from ..optimizer.single_changes import SingleChange
from ..rubrics.judge_card import JudgeCard
from ..rubrics.rubric import Rubric
from ..rubrics.statistics import Conclusion
from .chronicle import Chronicle
from .paired_detail import PairedDetail
from .record_parts import (
    CandidateRecord,
    CriterionRecord,
    Data,
    DomainRecord,
    FaultCount,
    FinalistRecord,
    candidates_of,
    criteria_of,
    domains_of,
    faults_of,
)
from .record_spending import (
    Invocation,
    StageRecord,
    UsageRecord,
    invocation_of,
    stages_of,
    usage_of,
)

FILE_NAME = "result.json"


@dataclass(frozen=True, slots=True)
class RunAbout:
    """What is known of a run before it begins; passwords in addresses are taken out.

    Attributes:
        name: The run's name, for people.
        kind: Which of the three jobs it is, such as `agent`.
        config: The validated configuration as plain JSON.
        rubric: What the task is scored by.
        simulated: Whether a scripted model answers instead of a language model.
        versions: Of Python and the packages that can change a result.
        command: What was typed.
        started_from: What prompts of other runs it starts from, a sentence each.
        card: Of the judge, where it was calibrated.
    """

    name: str
    kind: str
    config: Mapping[str, Any]
    rubric: Rubric
    simulated: bool
    versions: Mapping[str, str]
    command: str
    started_from: tuple[str, ...] = ()
    card: JudgeCard | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "config", public_json(self.config))
        object.__setattr__(self, "command", public(self.command))


class RunRecord(Data):
    """A finished run.

    Attributes:
        format: Version of this form.
        task: The task's name.
        rollouts: Rollouts used of `plan.total`.
        winner: Number of the chosen candidate; 0, the seed, when none was better.
        choice: How it was chosen.
        detail: What the test says of single criteria and pairs; None where that was not kept.
        val_gain: Winner minus seed on val, which no one should believe alone.
        overfit: Val gain minus test gain.
        earlier_tests: Other winners tested on this test split before; see `RunResult`.
        single_changes: What each agent's part of a joint winner earns alone; see `RunResult`.
        started_from: What prompts of other runs it started from, a sentence each.
        card: Of the judge, where it was calibrated.
        stages: What each stage used.
    """

    format: Literal[1] = 1
    name: str
    task: str
    kind: str
    simulated: bool
    command: str
    config: dict[str, Any]
    versions: dict[str, str]
    started_from: tuple[str, ...] = ()
    card: JudgeCard | None = None
    domains: tuple[DomainRecord, ...]
    criteria: tuple[CriterionRecord, ...]
    plan: Plan
    stages: tuple[StageRecord, ...] = ()
    rollouts: int
    stopped: str
    candidates: tuple[CandidateRecord, ...]
    finalists: tuple[FinalistRecord, ...]
    winner: int
    choice: str
    conclusion: Conclusion
    held_out: HeldOut | None
    detail: PairedDetail | None = None
    val_gain: float | None
    overfit: float | None
    earlier_tests: int
    single_changes: tuple[SingleChange, ...] = ()
    faults: tuple[FaultCount, ...]
    usage: tuple[UsageRecord, ...]
    invocation: Invocation

    @model_validator(mode="after")
    def _candidates_are_in_order(self) -> RunRecord:
        for place, one in enumerate(self.candidates):
            if one.number != place or (one.parent is not None and one.parent >= place):
                raise ValueError(f"candidate {one.number} stands at {place}, or before its parent")
        if not 0 <= self.winner < len(self.candidates):
            raise ValueError(f"there is no candidate {self.winner}, which is said to have won")
        return self

    @property
    def seed(self) -> CandidateRecord:
        """The candidate the run started from."""
        return self.candidates[0]

    @property
    def chosen(self) -> CandidateRecord:
        """The winner."""
        return self.candidates[self.winner]

    @property
    def deployable(self) -> bool:
        """Whether the test found the winner better, and no less safe."""
        tested = self.held_out
        return self.conclusion is Conclusion.IMPROVED and tested is not None and tested.deployable

    @property
    def objective_titles(self) -> dict[str, str]:
        """What the objectives are called, by id: criteria of a call, domains of a conversation."""
        parts = self.criteria if self.kind == "agent" else self.domains
        return {one.id: one.name for one in parts}

    @property
    def criterion_titles(self) -> dict[str, str]:
        """What the criteria are called, by id."""
        return {one.id: one.name for one in self.criteria}

    @property
    def judged_by(self) -> str | None:
        """The model that decided what checks leave open; None when there was none."""
        judge = self.config.get("models", {}).get("judge")
        return judge and judge["model"]

    @property
    def by_role(self) -> dict[str, Usage]:
        """What was used, by the role of the model."""
        roles: defaultdict[str, Usage] = defaultdict(Usage)
        for one in self.usage:
            roles[one.role] += Usage(**one.model_dump(exclude={"role", "agent"}))
        return dict(roles)

    @property
    def changed(self) -> list[str]:
        """Agents whose prompts differ between seed and winner."""
        seed = self.seed.prompts
        return [agent for agent, text in self.chosen.prompts.items() if text != seed.get(agent)]

    @property
    def diff(self) -> str:
        """Unified diff of the prompts from seed to winner; empty when the seed stays."""
        return self.seed.bundle.diff(self.chosen.bundle)

    def save(self, folder: Path) -> Path:
        """Write `result.json` into the run's folder and return its path."""
        path = folder / FILE_NAME
        path.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return path


def record_of(
    result: RunResult,
    about: RunAbout,
    chronicle: Chronicle | None = None,
    finished: datetime | None = None,
    detail: PairedDetail | None = None,
) -> RunRecord:
    """Return the record of a run; the same run gives the same record but for `invocation`.

    Args:
        result: What the engine returned.
        about: What was known before.
        chronicle: What was used along the way, where it was watched.
        finished: When the run ended; now when None.
        detail: What the test says of single criteria and pairs, where it was kept.
    """
    stages, moments = ([], []) if chronicle is None else (chronicle.stages, chronicle.moments)
    return RunRecord(
        name=about.name,
        task=result.task,
        kind=about.kind,
        simulated=about.simulated,
        command=about.command,
        config=dict(about.config),
        versions=dict(about.versions),
        started_from=about.started_from,
        card=about.card,
        domains=domains_of(about.rubric),
        criteria=criteria_of(about.rubric),
        plan=result.plan,
        stages=stages_of(stages),
        rollouts=result.rollouts,
        stopped=result.stopped,
        candidates=candidates_of(result),
        finalists=tuple(
            FinalistRecord(
                number=one.candidate.number,
                fresh=one.fresh,
                score=one.score,
                gain=one.gain,
                shrunk=one.shrunk,
            )
            for one in result.choice.finalists
        ),
        winner=result.winner.number,
        choice=result.choice.reason,
        conclusion=result.conclusion,
        held_out=result.held_out,
        detail=detail,
        val_gain=result.val_gain,
        overfit=result.overfit,
        single_changes=result.single_changes,
        earlier_tests=result.earlier_tests,
        faults=faults_of(result),
        usage=usage_of(result.ledger),
        invocation=invocation_of(result, finished or datetime.now(UTC), moments),
    )


def config_yaml(config: Mapping[str, Any]) -> str:
    """Write a configuration as YAML, in its own order."""
    return yaml.safe_dump(dict(config), allow_unicode=True, sort_keys=False)


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change a result."""
    packages = ("cotune", "dspy", "gepa", "mlflow")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
