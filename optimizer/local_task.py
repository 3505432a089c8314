"""The local task: one agent of a whole assistant, improved alone, scored by its own share.

Sub-agent GEPA as in arXiv 2603.03565, which gives each agent a localized rubric. Here the rubric
of the whole conversation is localized by credit: an agent answers for the points that were lost
through its fault, and for no others. Conversations are those of the system task, under the same
journal keys, so one that either has paid for is free for the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.prompts import PromptBundle
from ..rubrics.credit import Blame, credit, points_lost
from ..rubrics.rubric import Rubric
from ..rubrics.subject import ConversationRecord
from ..rubrics.verdict import Status, Verdict
from ..simulation.scenario import Scenario
from .case import case_of
from .example import Splits
from .rollout import Rollout
from .system_task import SystemTask


@dataclass(frozen=True)
class LocalTask:
    """Optimize the prompt of one agent, on whole conversations.

    Attributes:
        system: The assistant, and who plays and judges it.
        agent: Whose prompt may change.
        bundle: The prompts of all agents; the others keep theirs.
    """

    system: SystemTask
    agent: str
    bundle: PromptBundle

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent

    @property
    def seed(self) -> PromptBundle:
        """The agent's prompt."""
        return self.bundle.only(self.agent)

    @property
    def splits(self) -> Splits[Scenario]:
        """The scenarios."""
        return self.system.splits

    @property
    def concurrency(self) -> int:
        """How many conversations are held at once."""
        return self.system.concurrency

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a rollout beside the agent's prompt, scenario and repeat."""
        others = [name for name in self.bundle if name != self.agent]
        return {
            "task": "local",
            "agent": self.agent,
            "others": self.bundle.only(*others).fingerprint,
            "system": self.system.identity(),
        }

    def texts(self, example: Scenario) -> Iterable[str]:
        """Yield what no prompt may copy of a scenario."""
        return self.system.texts(example)

    async def rollout(self, example: Scenario, candidate: PromptBundle, repeat: int) -> Rollout:
        """Play one conversation with this prompt among the others', and score the agent's part.

        One that the assistant itself broke off is worth nothing: whoever did it, no prompt
        should make it likelier.
        """
        bundle = self.bundle.with_texts(candidate.texts())
        whole = await self.system.rollout(example, bundle, repeat)
        known = self._known(example, bundle, repeat) if whole.score is not None else None
        if known is None:
            return Rollout(
                whole.example,
                whole.score,
                case=whole.case,
                spending=whole.spending,
                fault=whole.fault,
            )
        return self._localized(whole, *known)

    def _known(
        self, example: Scenario, bundle: PromptBundle, repeat: int
    ) -> tuple[ConversationRecord, Sequence[Verdict]] | None:
        """Return a conversation and its verdicts from the journal; None when it broke off."""
        played = self.system.conversation(example, bundle, repeat)
        if played is None or played.trajectory.fault is not None:
            return None
        record, decisions = ConversationRecord(played.trajectory, example), self.system.decisions
        decided = decisions.known(decisions.key(record))
        return None if decided is None else (record, decided.verdicts)

    def _localized(
        self, whole: Rollout, record: ConversationRecord, verdicts: Sequence[Verdict]
    ) -> Rollout:
        rubric = self.system.rubric
        blames = [one for one in credit(rubric, verdicts, record) if one.agent == self.agent]
        lost, applied = _lost(rubric, blames), _applied(rubric, verdicts)
        score = _kept(sum(lost.values()), sum(applied.values()))
        blamed_for = {blame.verdict.criterion for blame in blames}
        return Rollout(
            whole.example,
            score,
            objectives={name: _kept(lost[name], points) for name, points in applied.items()},
            critical_failures=tuple(one for one in whole.critical_failures if one in blamed_for),
            lessons={name: own for name, own in whole.lessons.items() if name == self.agent},
            blame={name: own for name, own in whole.blame.items() if name == self.agent},
            applied=whole.applied,
            case=case_of(record, rubric, blames, score) if blames else None,
            spending=whole.spending,
        )


def _applied(rubric: Rubric, verdicts: Iterable[Verdict]) -> Mapping[str, float]:
    """Return the points that could be lost, by domain; a criterion that only gates has one."""
    points: defaultdict[str, float] = defaultdict(float)
    for verdict in verdicts:
        if verdict.status is Status.SCORED:
            criterion = rubric.criterion(verdict.criterion)
            points[criterion.domain] += criterion.points or 1.0
    return points


def _lost(rubric: Rubric, blames: Iterable[Blame]) -> defaultdict[str, float]:
    """Return the points that one agent's blames cost, by domain."""
    lost: defaultdict[str, float] = defaultdict(float)
    for blame in blames:
        domain = rubric.criterion(blame.verdict.criterion).domain
        lost[domain] += blame.share * points_lost(rubric, blame.verdict)
    return lost


def _kept(lost: float, applied: float) -> float:
    """Return the share of the points that was not lost, in [0, 1] whatever rounding leaves."""
    return min(1.0, max(0.0, 1.0 - lost / applied))
