"""The engine: search, choose, test once. All tasks share it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from ..agents.budget import Budget, BudgetExhaustedError
from ..agents.ledger import Ledger
from ..agents.prompts import PromptBundle
from ..simulation.journal import Journal
from .candidate import Pool
from .drafting import changed
from .evaluator import Evaluator
from .guards import Unfit, fits_all
from .held_out import HeldOut, compare_held_out
from .noise import Noise, measure_noise
from .observer import Observer, Silent
from .plan import Plan, make_plan
from .proposers.proposer import Proposer
from .result import RunResult
from .rollout import Rollout
from .search import search
from .selection import Choice, choose
from .settings import EngineSettings
from .single_changes import SingleChange, single_changes
from .task import Task

_TESTED = "tested_winners"


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known before the search.

    Attributes:
        plan: What the budget buys.
        noise: How much scores vary of themselves; None where it was not measured.
    """

    plan: Plan
    noise: Noise | None


@dataclass(slots=True)
class Engine:
    """One run.

    Running it again with the same task, settings and journal replays what was paid for, takes
    the same way to the same result, and goes on where the earlier run ended.

    Attributes:
        task: What is optimized.
        settings: How.
        proposer: Who writes the prompts.
        journal: Where results are kept.
        ledger: Where model calls are counted.
        budget: The limits, shared with the models so that they cover every call.
        observer: Who is told what happens.
        unfit: What the assistant cannot be told as it is written.
    """

    task: Task[Any]
    settings: EngineSettings
    proposer: Proposer
    journal: Journal
    ledger: Ledger
    budget: Budget
    observer: Observer = field(default_factory=Silent)
    unfit: Unfit = fits_all
    _evaluator: Evaluator = field(init=False)
    _survey: Survey | None = None

    def __post_init__(self) -> None:
        self._evaluator = Evaluator(
            self.task,
            self.journal,
            self.ledger,
            self.budget,
            self.observer,
            self.settings.fault_threshold,
        )

    async def survey(self) -> Survey:
        """Measure the noise, where the settings ask for it, and say what the budget buys.

        What it plays, the search and the selection would have to play; `run` begins with it.

        Raises:
            UsageError: The budget does not buy one candidate.
            BudgetExhaustedError: Tokens or money ended before the noise was measured.
        """
        if self._survey is None:
            plan = make_plan(self.settings, self.task.splits)
            if plan.noise:
                self.observer.step("noise", plan.noise)
            noise = await measure_noise(self.task, self._evaluator, self.settings.noise)
            self._survey = Survey(make_plan(self.settings, self.task.splits, noise), noise)
        return self._survey

    async def run(self) -> RunResult:
        """Search, choose a winner on val, and compare it with the seed on test.

        Raises:
            UsageError: The budget does not buy one candidate.
            PausedError: Too many rollouts were lost to faults; run again to go on.
            ModelUnusableError: No model call can succeed.
            BudgetExhaustedError: Tokens or money ended before the seed was scored.
        """
        started = time.monotonic()
        survey, evaluator = await self.survey(), self._evaluator
        plan = survey.plan
        self.budget.reserve(plan.reserved)
        self.observer.step("search", plan.search)
        found = await search(
            self.task,
            self.settings,
            evaluator,
            self.proposer,
            self.observer,
            survey.noise,
            self.unfit,
        )
        stopped = [found.stopped]
        self.budget.reserve(plan.test)
        self.observer.step("selection", plan.selection)
        choice = await self._choose(found.pool, evaluator, stopped)
        self.budget.reserve(0)
        self.observer.step("test", plan.test)
        held_out = await self._test(choice, evaluator, stopped)
        alone = await self._alone(found.pool, choice)
        return RunResult(
            self.task.name,
            plan,
            found.pool,
            choice,
            held_out,
            "; ".join(stopped),
            tuple(evaluator.faults),
            self.ledger,
            self.budget.rollouts,
            time.monotonic() - started,
            0 if held_out is None else self._note_test(choice.winner.bundle.fingerprint),
            alone,
        )

    def tested(self, candidate: PromptBundle) -> list[list[Rollout]]:
        """Return a candidate's rollouts of the test, by repeat.

        Raises:
            KeyError: It was not tested.
        """
        test, repeats = self.task.splits.test, range(self.settings.test.repeats)
        return [self._evaluator.recall(test, candidate, repeat) for repeat in repeats]

    async def _alone(self, pool: Pool, choice: Choice) -> tuple[SingleChange, ...]:
        """Play the winner's changes one by one, where there are several."""
        seed, val = pool.seed.bundle, self.task.splits.val
        changes = changed(seed, choice.winner.bundle)
        if len(changes) < 2:
            return ()
        self.observer.step("single changes", len(changes) * len(val))
        return await single_changes(seed, changes, val, self._evaluator)

    def _note_test(self, winner: str) -> int:
        """Note that this winner was tested, and return how many others were before it."""
        note = self.journal.note(_TESTED)
        tested = [] if note is None else json.loads(note)
        if winner not in tested:
            tested.append(winner)
            self.journal.write_note(_TESTED, json.dumps(tested))
        return tested.index(winner)

    async def _choose(self, pool: Pool, evaluator: Evaluator, stopped: list[str]) -> Choice:
        try:
            return await choose(pool, self.task.splits.val, evaluator, self.settings.selection)
        except BudgetExhaustedError as error:
            stopped.append(f"no selection: {error.limit}")
            return Choice(pool.seed, (), "the budget ended before the finalists were run again")

    async def _test(
        self, choice: Choice, evaluator: Evaluator, stopped: list[str]
    ) -> HeldOut | None:
        if choice.winner.parent is None:
            return None
        try:
            return await compare_held_out(
                self.task.splits.test,
                self.task.seed,
                choice.winner.bundle,
                evaluator,
                self.settings.test,
                self.settings.seed,
            )
        except BudgetExhaustedError as error:
            stopped.append(f"the test was not finished: {error.limit}")
            return None
