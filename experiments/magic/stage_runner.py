"""Running the stages: the engine on one task after another, with one journal for all of them.

A conversation that any stage has paid for is free for every other: the tasks share their journal
keys. Each stage still counts every rollout that it looks at, so what it may spend does not depend
on what was run before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace

from ...agents.budget import BudgetExhaustedError, Limits
from ...agents.connect import Served
from ...agents.ledger import Ledger, Role
from ...agents.models import ModelSettings
from ...agents.prompts import PromptBundle
from ...optimizer.engine import Engine
from ...optimizer.evaluator import Evaluator
from ...optimizer.local_task import LocalTask
from ...optimizer.observer import Observer
from ...optimizer.result import RunResult
from ...optimizer.system_task import SystemTask
from ...simulation.journal import Journal
from ..run import Built, Means
from ..system_run import SystemRun
from .arms import WHOLE, Stage, part_of
from .clock import Clock, TimedBudget

Watch = Callable[[str, Ledger], AbstractContextManager[Observer]]
"""Shows a step of that name to a person, for as long as the context is open."""


@dataclass(frozen=True, slots=True)
class StageEnd:
    """What came of a stage.

    Attributes:
        stage: Which.
        start: The prompts of all agents that it started from.
        result: What the engine found; None when the budget ended before the start was scored.
        spent: Rollouts that search and selection looked at.
        stopped: Why it ended.
    """

    stage: Stage
    start: PromptBundle
    result: RunResult | None
    spent: int
    stopped: str


@dataclass(slots=True)
class StageRunner:
    """Runs stages; see the module.

    Attributes:
        system: The assistant, its scenarios and its rubric.
        limits: Of the whole experiment: tokens and money.
        journal: Where everything is kept.
        models: The models by role, as they are served.
        served: By model string, where each embedded model is served.
        closing: Closes what is opened.
        watch: Shows what goes on.
        clock: How long it may take.
        total: Rollouts of all stages and comparisons, by which limits and time are divided.
        ledgers: What each stage used.
    """

    system: SystemRun
    limits: Limits
    journal: Journal
    models: Mapping[Role, ModelSettings]
    served: Mapping[str, Served]
    closing: AsyncExitStack
    watch: Watch
    clock: Clock
    total: int
    ledgers: list[Ledger] = field(default_factory=list)

    async def run(self, stage: Stage, start: PromptBundle) -> StageEnd:
        """Run a stage, or go through what the journal has of it.

        Raises:
            PausedError: Too many faults.
            CotuneError: A model cannot be used.
        """
        tests = tested(self.system)
        means = self.means(stage.rollouts + tests, timed=True)
        built = self.system.build(means)
        task = task_of(stage.node, whole_of(built), start)
        settings = self.system.config.model_copy(update={"limits": means.budget.limits})
        try:
            with self.watch(stage.name, means.ledger) as observer:
                engine = Engine(
                    task,
                    settings,
                    built.proposer,
                    self.journal,
                    means.ledger,
                    means.budget,
                    observer,
                )
                result = await engine.run()
        except BudgetExhaustedError as error:
            stopped = f"the budget ended before the start was scored: {error.limit}"
            return StageEnd(stage, start, None, means.budget.rollouts, stopped)
        spent = result.rollouts - (tests if result.held_out is not None else 0)
        return StageEnd(stage, start, result, spent, result.stopped)

    @contextmanager
    def scoring(
        self, name: str, node: str, start: PromptBundle, rollouts: int
    ) -> Iterator[Evaluator]:
        """Give what scores prompts outside a stage, within its share of the limits."""
        means = self.means(rollouts, timed=False)
        task = task_of(node, whole_of(self.system.build(means)), start)
        threshold = self.system.config.fault_threshold
        with self.watch(name, means.ledger) as observer:
            observer.step("test", rollouts)
            yield Evaluator(task, self.journal, means.ledger, means.budget, observer, threshold)

    def means(self, rollouts: int, *, timed: bool) -> Means:
        """Return what a stage of so many rollouts works with."""
        limits = part_of(self.limits, rollouts / self.total, rollouts)
        seconds = self.clock.grant(rollouts) if timed else None
        ledger, budget = Ledger(), TimedBudget(limits, most_seconds=seconds)
        self.ledgers.append(ledger)
        return Means(self.journal, ledger, budget, self.models, self.served, self.closing)


def tested(system: SystemRun) -> int:
    """Return the rollouts that seed and winner take on test."""
    return 2 * len(system.splits.test) * system.config.test.repeats


def task_of(node: str, whole: SystemTask, start: PromptBundle) -> SystemTask | LocalTask:
    """Return the task of a node: all agents together, or one of them alone."""
    if node == WHOLE:
        return replace(whole, seed=start)
    return LocalTask(whole, node, start)


def whole_of(built: Built) -> SystemTask:
    """Return the system task of a system run.

    Raises:
        TypeError: It is of another run.
    """
    if not isinstance(built.task, SystemTask):
        raise TypeError(f"{type(built.task).__name__} is not the task of a system run")
    return built.task
