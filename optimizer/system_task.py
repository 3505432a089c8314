"""The system task: the prompts of all agents, scored on whole simulated conversations.

A rollout is a scenario played once with a candidate's prompts, judged by a rubric, with credit to
the agents at fault. MAMuT (multi-agent, multi-turn; arXiv 2603.03565) is this task under the
engine that all tasks share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.compact_adapter import render_value
from ..agents.errors import Fault, FaultError, FaultOrigin
from ..agents.prompts import PromptBundle
from ..rubrics.agent_feedback import AgentFeedback, agent_feedback
from ..rubrics.credit import Blame, credit, points_lost
from ..rubrics.rubric import Rubric
from ..rubrics.scoring import Score, score
from ..rubrics.subject import ConversationRecord
from ..rubrics.verdict import Verdict
from ..rubrics.verdict_journal import Decided, VerdictJournal
from ..simulation.attempts import Attempts
from ..simulation.played import Played, added
from ..simulation.scenario import Scenario
from ..simulation.work import Work
from .case import case_of
from .example import Splits
from .rollout import Lesson, Rollout


@dataclass(frozen=True)
class SystemTask:
    """Optimize the prompts of a whole assistant.

    Attributes:
        name: Of the assistant.
        seed: The prompts of all its agents.
        splits: The scenarios.
        attempts: Who plays conversations.
        decisions: Who judges them, and the journal that keeps both.
        player: Fingerprint of assistant, customers, models and limits.
        random_seed: From which each conversation's seed is derived.
    """

    name: str
    seed: PromptBundle
    splits: Splits[Scenario]
    attempts: Attempts
    decisions: VerdictJournal
    player: str
    random_seed: int = 0

    @property
    def concurrency(self) -> int:
        """How many conversations are held at once."""
        return self.attempts.engine.concurrency

    @property
    def rubric(self) -> Rubric:
        """By what conversations are scored."""
        return self.decisions.rubric

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a rollout beside prompts, scenario and repeat."""
        judge = self.decisions.judge
        return {
            "task": "system",
            "player": self.player,
            "rubric": self.rubric.fingerprint,
            "judge": None if judge is None else judge.identity,
            "seed": self.random_seed,
        }

    def texts(self, example: Scenario) -> Iterator[str]:
        """Yield the scenario's goal and all that the customer says and knows."""
        yield from (example.goal, example.opening or "")
        yield from (fact.say or fact.value for fact in (*example.facts, *example.unknown))
        yield from (errand.say for errand in example.errands)
        yield from (revision.say for revision in example.revisions)

    async def rollout(self, example: Scenario, candidate: PromptBundle, repeat: int) -> Rollout:
        """Play, judge and credit one conversation."""
        played = await self._played(Work(example, candidate, repeat, self.random_seed))
        if (fault := played.excluded_for) is not None:
            return Rollout(example.id, None, spending=played.spending, fault=fault)
        record = ConversationRecord(played.trajectory, example)
        if played.trajectory.fault is not None:
            return self._broken(record, played)
        try:
            decided = await self.decisions.decide(self.decisions.key(record), record)
        except FaultError as error:
            return Rollout(example.id, None, spending=played.spending, fault=error.fault)
        return self._judged(record, played, decided)

    def conversation(
        self, example: Scenario, candidate: PromptBundle, repeat: int
    ) -> Played | None:
        """Return a conversation that was played, from the journal."""
        key = Work(example, candidate, repeat, self.random_seed).key(self.player)
        record = self.decisions.journal.get(key)
        return None if record is None else Played.from_json(record)

    async def _played(self, work: Work) -> Played:
        """Return the conversation; one that another try may save is not kept."""
        key = work.key(self.player)
        record = self.decisions.journal.get(key)
        if record is not None:  # the run ended before it was judged
            played = Played.from_json(record)
            self.attempts.account.count_earlier(played.spending)
            return played
        played = await self.attempts.play(work, key)
        if played.excluded_for is not None:
            return played
        return Played.from_json(self.decisions.journal.keep(key, played.to_json()))

    def _broken(self, record: ConversationRecord, played: Played) -> Rollout:
        """Score a conversation that the assistant itself broke off: worth nothing."""
        case = case_of(record, self.rubric, (), 0.0)
        return Rollout(record.scenario.id, 0.0, case=case, spending=played.spending)

    def _judged(self, record: ConversationRecord, played: Played, decided: Decided) -> Rollout:
        verdicts = decided.verdicts.verdicts
        result = score(self.rubric, verdicts)
        spending = added(played.spending, decided.spending)
        if result.objective is None:
            return Rollout(record.scenario.id, None, spending=spending, fault=_undecided(result))
        blames = credit(self.rubric, verdicts, record)
        return Rollout(
            record.scenario.id,
            result.objective,
            objectives=dict(result.domains),
            critical_failures=result.critical_failures,
            lessons=self._lessons(blames),
            blame=self._blame(blames),
            applied=self._applied(verdicts),
            case=case_of(record, self.rubric, blames, result.objective) if blames else None,
            spending=spending,
        )

    def _applied(self, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
        """Return the names of the criteria that were decided, each once."""
        decided = (each.criterion for each in verdicts if each.value is not None)
        return tuple(dict.fromkeys(self.rubric.criterion(name).name for name in decided))

    def _lessons(self, blames: Sequence[Blame]) -> dict[str, tuple[Lesson, ...]]:
        agents = dict.fromkeys(blame.agent for blame in blames)
        return {
            agent: tuple(map(_lesson, agent_feedback(self.rubric, blames, agent)))
            for agent in agents
        }

    def _blame(self, blames: Sequence[Blame]) -> dict[str, float]:
        lost: defaultdict[str, float] = defaultdict(float)
        for blame in blames:
            lost[blame.agent] += blame.share * points_lost(self.rubric, blame.verdict)
        return dict(lost)


def _lesson(feedback: AgentFeedback) -> Lesson:
    rules = feedback.criterion.rules.get(feedback.blame.agent, ())
    return Lesson(
        inputs=_fields(feedback.blame.received),
        output=_fields(feedback.blame.returned),
        expected="",
        rule=" ".join(rules) or feedback.criterion.feedback or "",
        feedback=feedback.text,
        criterion=feedback.criterion.name,
    )


def _fields(values: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {render_value(value)}" for name, value in values.items())


def _undecided(result: Score) -> Fault:
    if result.judge_fault:
        said = f"{result.undecided:.0%} of the applicable points were left open"
        return Fault(FaultOrigin.JUDGE, "undecided", said)
    return Fault(FaultOrigin.JUDGE, "nothing_applies", "no criterion applied to the conversation")
