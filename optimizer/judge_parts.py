"""Judge parts: each prompt of a judge with the criteria it decides, asked and paid for by itself.

A candidate that changes one prompt is asked again about that prompt's criteria only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..agents.budget import Budget
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Ledger, Spending
from ..agents.prompts import PromptBundle
from ..rubrics.criterion import Criterion
from ..rubrics.judges.inquiry import Strategy
from ..rubrics.judges.llm import JudgeSettings
from ..rubrics.judges.model_judge import ModelJudge
from ..rubrics.rubric import Rubric
from ..rubrics.subject import ConversationRecord
from ..rubrics.verdict import Verdict
from ..rubrics.verdict_journal import VerdictJournal
from ..simulation.journal import Journal


def strategy_of(judge: ModelJudge[Any]) -> Strategy:
    """Return what a judge is asked in one call."""
    settings = judge.settings
    return settings.strategy if isinstance(settings, JudgeSettings) else Strategy.CRITERION


@dataclass(frozen=True)
class JudgeParts:
    """A judge's prompts, each with its criteria.

    Attributes:
        judge: The judge with the prompts to start from.
        rubric: By which it judges.
        criteria: Ids of the criteria that people annotated.
        journal: Where verdicts are kept.
        ledger: Where calls are counted.
        budget: What limits them.
    """

    judge: ModelJudge[Any]
    rubric: Rubric
    criteria: Collection[str]
    journal: Journal
    ledger: Ledger
    budget: Budget
    _opened: dict[tuple[str, str, int], VerdictJournal] = field(default_factory=dict)

    @cached_property
    def rubrics(self) -> Mapping[str, Rubric]:
        """By name of the prompt, the part of the rubric that it decides."""
        strategy = strategy_of(self.judge)
        names: dict[str, list[Criterion]] = {}
        for criterion in self.rubric.criteria:
            if criterion.judged:
                names.setdefault(strategy.prompt_name(self.rubric, criterion), []).append(criterion)
        return {
            name: part_of(self.rubric, criteria)
            for name, criteria in names.items()
            if any(each.id in self.criteria for each in criteria)
        }

    @cached_property
    def seed(self) -> PromptBundle:
        """The prompts that decide something that people annotated."""
        return self.judge.prompts.only(*self.rubrics)

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a verdict beside prompts, conversation and repeat."""
        known = {name: each for name, each in self.judge.identity.items() if name != "prompts"}
        parts = {name: rubric.fingerprint for name, rubric in self.rubrics.items()}
        return {**known, "parts": fingerprint(parts)}

    async def decide(
        self, name: str, record: ConversationRecord, candidate: PromptBundle, repeat: int
    ) -> tuple[tuple[Verdict, ...], Spending]:
        """Return a prompt's verdicts, and what they cost where this is the first to ask.

        Raises:
            FaultError: The judge could not be asked.
        """
        decisions = self._decisions(name, candidate, repeat)
        key = decisions.key(record)
        known = decisions.known(key)
        if known is not None:  # it counts with the rollout that asked first
            return known.verdicts, {}
        decided = await decisions.decide(key, record)
        return decided.verdicts.verdicts, decided.spending

    def recall(
        self, name: str, record: ConversationRecord, candidate: PromptBundle
    ) -> tuple[Verdict, ...]:
        """Return verdicts that were decided before; nothing where a fault was in the way."""
        decisions = self._decisions(name, candidate, 0)
        known = decisions.known(decisions.key(record))
        return () if known is None else known.verdicts

    def _decisions(self, name: str, candidate: PromptBundle, repeat: int) -> VerdictJournal:
        opened = (name, candidate[name].fingerprint, repeat)
        if opened not in self._opened:
            judge = replace(self.judge.again(repeat), prompts=candidate.only(name))
            decisions = VerdictJournal(
                self.rubrics[name], judge, self.journal, self.ledger, self.budget
            )
            decisions.account.count_in_vain()
            self._opened[opened] = decisions
        return self._opened[opened]


def part_of(rubric: Rubric, criteria: Collection[Criterion]) -> Rubric:
    """Return the rubric of some of its criteria, their domains weighing all of it."""
    ids, domains = {each.id for each in criteria}, {each.domain for each in criteria}
    held = [each for each in rubric.domains if each.id in domains]
    total = sum(each.weight for each in held)
    kept = rubric.model_dump()
    kept["domains"] = [
        {**each.model_dump(), "weight": 100.0 * each.weight / total} for each in held
    ]
    kept["criteria"] = [each.model_dump() for each in rubric.criteria if each.id in ids]
    return Rubric.model_validate(kept)
