"""A simulation: checked before anything is spent, then played and written down."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..agents.budget import Budget, BudgetExhaustedError
from ..agents.errors import CotuneError, UsageError
from ..agents.fingerprint import fingerprint
from ..agents.grocery.assistant import PROMPTS
from ..agents.ledger import Ledger, Role
from ..agents.models import ModelSettings
from ..agents.prompts import PromptBundle
from ..simulation.engines.engine import Engine
from ..simulation.engines.in_process import InProcess
from ..simulation.engines.on_ray import OnRay
from ..simulation.journal import Journal
from ..simulation.observer import SimulationObserver
from ..simulation.player import Player
from ..simulation.scenario import Scenario
from ..simulation.scenario_file import PACKS, load_scenarios
from ..simulation.setup import Setup
from ..simulation.simulator import Simulator
from ..simulation.summary import Summary
from ..simulation.trajectory_file import write_trajectories
from ..simulation.users.settings import needs_a_model
from ..simulation.work import Workload
from .config import RunConfig
from .model_access import check_reachable, serving
from .run_folder import JOURNAL, make_writable

TRAJECTORIES = "trajectories.jsonl"


@dataclass(frozen=True, slots=True)
class SimulationEnd:
    """How a simulation ended.

    Attributes:
        summary: Of the conversations that ended.
        stopped: Why it stopped before all of them did; None when it did not.
    """

    summary: Summary
    stopped: CotuneError | None = None


@dataclass(frozen=True, slots=True)
class SimulationRun:
    """Conversations to be played.

    Attributes:
        config: The configuration.
        scenarios: Those that are played.
        prompts: What the assistant's agents are told.
        folder: The run's own folder.
    """

    config: RunConfig
    scenarios: Sequence[Scenario]
    prompts: PromptBundle
    folder: Path

    @classmethod
    def prepare(cls, config: RunConfig, most: int | None) -> SimulationRun:
        """Read and check everything a simulation needs.

        Args:
            config: The configuration.
            most: Scenarios that are played at most; which ones is decided by a hash of their
                ids, so it is the same in every run. None plays all.

        Raises:
            UsageError: Something is missing or wrong.
            CotuneError: The run's folder cannot be written.
        """
        scenarios = _sample(load_scenarios(config.simulation.scenarios), most)
        prompts = PromptBundle.load(config.prompts or PROMPTS)
        folder = config.out / f"simulation-{_run_id(config, prompts)}"
        make_writable(folder)
        return cls(config, scenarios, prompts, folder)

    @property
    def workload(self) -> Workload:
        """The conversations, in the order in which they are written."""
        return Workload(
            self.scenarios, self.prompts, self.config.simulation.repeats, self.config.seed
        )

    @property
    def trajectories(self) -> Path:
        """Where the conversations are written."""
        return self.folder / TRAJECTORIES

    def journal(self) -> Journal:
        """Open the run's journal."""
        return Journal(self.folder / JOURNAL)

    def execute(
        self, journal: Journal, ledger: Ledger, observer: SimulationObserver
    ) -> SimulationEnd:
        """Play what is not in the journal, and write all conversations to `trajectories`.

        When the run stops early, because it paused, the budget is spent or a model fails for
        good, what was played until then is written, too.

        Raises:
            UsageError: A scenario cannot be played.
            CotuneError: A model cannot be used; nothing was played.
        """
        limits = self.config.limits.model_copy(update={"rollouts": len(self.workload)})
        budget = Budget(limits)
        with ExitStack() as stack:
            models, served = stack.enter_context(serving(self._models()))
            setup = Setup(
                assistant=self.config.assistant,
                models=models,
                served=served,
                user=self.config.simulation.user,
                limits=self.config.simulation.conversation,
            )
            return asyncio.run(self._play(setup, journal, ledger, budget, observer))

    async def _play(
        self,
        setup: Setup,
        journal: Journal,
        ledger: Ledger,
        budget: Budget,
        observer: SimulationObserver,
    ) -> SimulationEnd:
        player = Player.of(setup, ledger, budget)
        _require_playable(self.scenarios, player, self.prompts)
        for model in player.models.values():
            await check_reachable(model)
        engine = self._engine(setup, player, ledger, budget)
        settings = self.config.simulation
        simulator = Simulator(
            engine,
            player.identity,
            journal,
            ledger,
            budget,
            observer,
            settings.again,
            self.config.fault_threshold,
        )
        try:
            return SimulationEnd(await simulator.run(self.workload))
        except BudgetExhaustedError as error:
            return SimulationEnd(simulator.summary, _out_of_budget(error))
        except CotuneError as error:
            return SimulationEnd(simulator.summary, error)
        except SystemExit:  # must not leave through the event loop, which would print a traceback
            said = "The run stopped: nobody reads its output any more. The same command goes on."
            return SimulationEnd(simulator.summary, CotuneError(said))
        finally:
            await engine.aclose()
            played = simulator.ended(self.workload)
            write_trajectories(self.trajectories, (each.trajectory for each in played))

    def _engine(self, setup: Setup, player: Player, ledger: Ledger, budget: Budget) -> Engine:
        settings = self.config.simulation
        if settings.ray is None:
            return InProcess(player, settings.concurrency)
        return OnRay(
            setup,
            ledger,
            budget,
            workers=settings.ray.workers,
            concurrency=settings.concurrency,
            address=settings.ray.address,
        )

    def _models(self) -> dict[Role, ModelSettings]:
        models = {Role.TASK: self.config.models.task}
        if needs_a_model(self.config.simulation.user) and self.config.models.user is not None:
            models[Role.USER] = self.config.models.user
        return models


def _out_of_budget(error: BudgetExhaustedError) -> CotuneError:
    return CotuneError(
        f"The run stopped: {error}. The conversations that had ended are kept. Raise 'limits' in "
        "the configuration and run the same command again; it goes on from here."
    )


def _sample(scenarios: Sequence[Scenario], most: int | None) -> Sequence[Scenario]:
    if most is None or most >= len(scenarios):
        return scenarios
    chosen = sorted(scenarios, key=lambda scenario: fingerprint(scenario.id))[:most]
    kept = {scenario.id for scenario in chosen}
    return [scenario for scenario in scenarios if scenario.id in kept]


def _require_playable(scenarios: Sequence[Scenario], player: Player, prompts: PromptBundle) -> None:
    """Refuse a scenario that assistant or customer cannot play, before anything is spent."""
    for scenario in scenarios:
        try:
            player.assistant.start(prompts, scenario.initial_state, 0)
            player.users.start(scenario, 0)
        except UsageError as error:
            raise UsageError(f"Scenario '{scenario.id}' cannot be played: {error}") from error


def _run_id(config: RunConfig, prompts: PromptBundle) -> str:
    """Name what makes a simulation another one, so that it gets a folder of its own.

    More scenarios, more repeats, other limits of time and money and the same command typed in
    another folder go on from the journal that is there.
    """
    settings, here = config.simulation, Path.cwd()
    models = (config.models.task, config.models.user if needs_a_model(settings.user) else None)
    content = [
        config.seed,
        [model and model.identity() for model in models],
        prompts.fingerprint,
        settings.scenarios if settings.scenarios in PACKS else str(here / settings.scenarios),
        settings.user.relative_to(here).model_dump(mode="json"),
        settings.conversation.identity,
    ]
    return fingerprint(content, 8)
