"""Tuning a judge's prompts: search and selection on train and val, then all that test needs, once.

Prompts are kept or given back one by one: where a prompt's criteria agree no better on val with
the winner's than with the seed's, the seed's stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..agents.budget import Budget, BudgetExhaustedError
from ..agents.errors import Fault
from ..agents.ledger import Ledger
from ..agents.prompts import PromptBundle
from ..simulation.journal import Journal
from .candidate import Pool
from .evaluator import Evaluator
from .judge_task import JudgeTask
from .observer import Observer
from .plan import Plan, make_plan
from .proposers.proposer import Proposer
from .rollout import Rollout, scored_pairs
from .search import search
from .selection import Choice, choose
from .settings import EngineSettings

_ALIKE = 1e-9


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning came to.

    Attributes:
        plan: What the budget bought.
        pool: All candidates.
        choice: The winner on val.
        prompts: The winner's prompts where they are better on val, the seed's elsewhere.
        gains: By prompt, mean gain on val of the criteria it decides, on the scale of
            `Rollout.objectives`; of those that the winner changed.
        stopped: Why the search ended.
        faults: Conversations lost to faults.
    """

    plan: Plan
    pool: Pool
    choice: Choice
    prompts: PromptBundle
    gains: Mapping[str, float]
    stopped: str
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True)
class JudgeTuning:
    """One tuning; running it again replays what was paid for.

    Attributes:
        task: What is tuned.
        settings: How; the test is all of the test split, once.
        proposer: Who writes the prompts.
        journal: Where results are kept.
        ledger: Where calls are counted.
        budget: What limits them.
        observer: Who is told what happens.
    """

    task: JudgeTask
    settings: EngineSettings
    proposer: Proposer
    journal: Journal
    ledger: Ledger
    budget: Budget
    observer: Observer

    async def run(self) -> Tuned:
        """Tune, and have the test judged by the seed's prompts and by those that are kept.

        Raises:
            UsageError: The budget does not buy one candidate.
            PausedError: Too many conversations were lost to faults; run again to go on.
            BudgetExhaustedError: It ended before the seed was scored, or in the test.
        """
        task, settings, splits = self.task, self.settings, self.task.splits
        evaluator = Evaluator(
            task, self.journal, self.ledger, self.budget, self.observer, settings.fault_threshold
        )
        plan = make_plan(settings, splits)
        self.budget.reserve(plan.reserved)
        self.observer.step("search", plan.search)
        found = await search(task, settings, evaluator, self.proposer, self.observer)
        self.budget.reserve(plan.test)
        self.observer.step("selection", plan.selection)
        choice = await self._choose(found.pool, evaluator)
        prompts, gains = self._kept(choice, evaluator)
        self.budget.reserve(0)
        self.observer.step("test", plan.test)
        for candidate in (task.seed, prompts):
            await evaluator.evaluate(splits.test, candidate)
        return Tuned(plan, found.pool, choice, prompts, gains, found.stopped, evaluator.faults)

    async def _choose(self, pool: Pool, evaluator: Evaluator) -> Choice:
        try:
            return await choose(pool, self.task.splits.val, evaluator, self.settings.selection)
        except BudgetExhaustedError:
            return Choice(pool.seed, (), "the budget ended before the finalists were run again")

    def _kept(
        self, choice: Choice, evaluator: Evaluator
    ) -> tuple[PromptBundle, Mapping[str, float]]:
        """Return the prompts to keep, and by how much the winner's are better on val."""
        seed, winner = self.task.seed, choice.winner.bundle
        changed = [name for name in seed if winner[name].text != seed[name].text]
        if not changed:
            return seed, {}
        before, after = (
            evaluator.recall(self.task.splits.val, candidate) for candidate in (seed, winner)
        )
        gains = {name: self._gain(name, before, after) for name in changed}
        better = {name: winner[name].text for name, gain in gains.items() if gain > _ALIKE}
        return seed.with_texts(better), gains

    def _gain(self, prompt: str, before: Sequence[Rollout], after: Sequence[Rollout]) -> float:
        gained = [
            other.objectives[name] - one.objectives[name]
            for one, other in scored_pairs(before, after)
            for name in one.objectives.keys() & other.objectives.keys()
            if self.task.prompt_of(name) == prompt
        ]
        return sum(gained) / len(gained) if gained else 0.0
