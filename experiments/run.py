"""Runs: what the optimization of an agent and that of the whole assistant have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from ..agents.blocking import blocking
from ..agents.budget import Budget, BudgetExhaustedError
from ..agents.connect import Served, connect
from ..agents.errors import CotuneError
from ..agents.ledger import Ledger, Role
from ..agents.lm import LanguageModel
from ..agents.models import ModelSettings
from ..agents.prompts import PromptBundle
from ..optimizer.engine import Engine, Survey
from ..optimizer.example import Splits
from ..optimizer.guards import Unfit, fits_all
from ..optimizer.observer import Observer
from ..optimizer.plan import Plan
from ..optimizer.proposers.proposer import Proposer
from ..optimizer.result import RunResult
from ..optimizer.task import Task
from ..rubrics.rubric import Rubric
from ..simulation.journal import Journal
from .config import RunConfig
from .contrast import Contrast
from .model_access import check_reachable, require_known, serving
from .run_folder import JOURNAL, make_writable
from .run_record import RunAbout, installed_versions
from .tested_side import SEED, WINNER, Tested, TestedSide, tested

GoOn = Callable[[Survey], bool]
"""Whether to spend the budget, now that it is known what it buys."""


ResultT = TypeVar("ResultT")


class DeclinedError(CotuneError):
    """A person did not want the run after all."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a run works with while its models are served.

    Attributes:
        journal: Where results are kept.
        ledger: Where calls are counted.
        budget: What limits them.
        models: The models by role, as they are served.
        served: By model string, where each embedded model is served.
        closing: Closes what is opened, when the run ends.
    """

    journal: Journal
    ledger: Ledger
    budget: Budget
    models: Mapping[Role, ModelSettings]
    served: Mapping[str, Served]
    closing: AsyncExitStack

    def connect(self, *roles: Role) -> dict[Role, LanguageModel]:
        """Return the models of those of these roles that the run has models for."""
        wanted = {role: self.models[role] for role in roles if role in self.models}
        return connect(wanted, self.served, self.ledger, self.budget)


@dataclass(frozen=True, slots=True)
class Built:
    """What is optimized, and by whom.

    Attributes:
        task: What is optimized.
        proposer: Who writes the prompts.
        models: All models that will be called, which must answer before anything is played.
        unfit: What the assistant cannot be told as it is written.
    """

    task: Task[Any]
    proposer: Proposer
    models: Sequence[LanguageModel]
    unfit: Unfit = fits_all


Doing = Callable[[Means, Built], Awaitable[ResultT]]


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a run.

    Attributes:
        result: What the engine found.
        contrasts: The conversations of the test that changed most; none of an agent's run.
        sides: Seed and winner on the test, by name; none without a test.
    """

    result: RunResult
    contrasts: tuple[Contrast, ...] = ()
    sides: Mapping[str, TestedSide] = field(default_factory=dict)


def about_run(
    kind: str,
    folder: Path,
    config: RunConfig,
    rubric: Rubric,
    command: str,
    started_from: Sequence[str] = (),
) -> RunAbout:
    """Return what is known of a run before it begins; see `RunAbout`."""
    return RunAbout(
        name=folder.name,
        kind=kind,
        config=config.model_dump(mode="json"),
        rubric=rubric,
        simulated=config.models.is_simulated,
        versions=installed_versions(),
        command=command,
        started_from=tuple(started_from),
    )


@dataclass(frozen=True, slots=True)
class Run(ABC):
    """Everything about a run that can be checked before anything is spent.

    Attributes:
        config: The configuration.
        seed: The prompts it starts from.
        splits: Its examples.
        rubric: What they are scored by.
        plan: What the budget buys.
        folder: The run's own folder.
        about: What is known before it begins.
    """

    config: RunConfig
    seed: PromptBundle
    splits: Splits[Any]
    rubric: Rubric
    plan: Plan
    folder: Path
    about: RunAbout

    def checked(self) -> Self:
        """Return the run when its models are known and its folder can be written.

        Raises:
            CotuneError: A model cannot be used, or the folder cannot be written.
        """
        require_known(self.models())
        make_writable(self.folder)
        return self

    @property
    @abstractmethod
    def subject(self) -> str:
        """What is optimized, for people, such as `Agent 'router'`."""

    @abstractmethod
    def models(self) -> Mapping[Role, ModelSettings]:
        """Return the models that it calls, by role."""

    @abstractmethod
    def build(self, means: Means) -> Built:
        """Build the task and who writes the prompts; nothing is sent yet."""

    @abstractmethod
    def contrasts(self, task: Task[Any], result: RunResult) -> tuple[Contrast, ...]:
        """Return the conversations of the test that changed most, from the journal."""

    @abstractmethod
    def side(self, task: Task[Any], rollouts: Sequence[Tested]) -> TestedSide:
        """Return what was played with some prompts, as files keep it."""

    def journal(self) -> Journal:
        """Open the run's journal."""
        return Journal(self.folder / JOURNAL)

    def execute(
        self, journal: Journal, ledger: Ledger, observer: Observer, go_on: GoOn
    ) -> Finished:
        """Run it, or go on with it.

        Args:
            journal: The run's.
            ledger: Where its calls are counted.
            observer: Who is told what happens.
            go_on: Asked once it is known what the budget buys.

        Raises:
            DeclinedError: It is not to go on.
            CotuneError: A model cannot be used, the run paused, or the budget does not suffice.
        """

        async def run(means: Means, built: Built) -> Finished:
            return await self._run(means, built, observer, go_on)

        return self.work(journal, ledger, run)

    def work(self, journal: Journal, ledger: Ledger, do: Doing[ResultT]) -> ResultT:
        """Do something with what the run is about, while its models are served and answer.

        Args:
            journal: Where results are kept.
            ledger: Where calls are counted.
            do: What is done.

        Raises:
            CotuneError: A model cannot be used.
        """
        with serving(self.models()) as (models, served):
            budget = Budget(self.config.limits)

            async def worked() -> ResultT:
                async with AsyncExitStack() as closing:
                    means = Means(journal, ledger, budget, models, served, closing)
                    built = self.build(means)
                    for model in built.models:
                        await check_reachable(model)
                    return await do(means, built)

            return blocking(worked())

    async def _run(self, means: Means, built: Built, observer: Observer, go_on: GoOn) -> Finished:
        engine = Engine(
            built.task,
            self.config,
            built.proposer,
            means.journal,
            means.ledger,
            means.budget,
            observer,
            built.unfit,
        )
        try:
            if not go_on(await engine.survey()):
                raise DeclinedError(
                    "The run was not started. What was played to measure the noise is kept, and "
                    "the same command goes on from it."
                )
            result = await engine.run()
        except BudgetExhaustedError as error:
            raise CotuneError(
                f"The budget ended before the seed was scored: {error.limit}. Allow more under "
                "'limits' in the configuration, and the run goes on from here."
            ) from error
        return Finished(result, self.contrasts(built.task, result), self._sides(engine, result))

    def _sides(self, engine: Engine, result: RunResult) -> dict[str, TestedSide]:
        """Return both sides of the test."""
        if result.held_out is None:
            return {}
        examples, bundles = self.splits.test, {SEED: result.seed, WINNER: result.winner.bundle}
        return {
            name: self.side(engine.task, tested(examples, bundle, engine.tested(bundle)))
            for name, bundle in bundles.items()
        }
