"""A simulation: checked before anything is spent, then played and written down."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..agents.blocking import blocking
from ..agents.budget import Budget, BudgetExhaustedError
from ..agents.errors import CotuneError
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Ledger, Role
from ..agents.prompts import PromptBundle
from ..simulation.journal import Journal
from ..simulation.observer import SimulationObserver
from ..simulation.player import Player
from ..simulation.scenario import Scenario
from ..simulation.scenario_file import PACKS, load_scenarios
from ..simulation.setup import Setup
from ..simulation.simulator import Simulator
from ..simulation.summary import Summary
from ..simulation.trajectory_file import write_trajectories
from ..simulation.work import Workload
from .config import RunConfig
from .conversing import engine_of, models_of, require_playable, setup_of
from .model_access import check_reachable, require_known, serving
from .run_folder import JOURNAL, make_writable
from .seed_prompts import load_seed

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
    def prepare(
        cls, config: RunConfig, most: int | None, split: str | None = None
    ) -> SimulationRun:
        """Read and check everything a simulation needs.

        Args:
            config: The configuration.
            most: Scenarios that are played at most; which ones is decided by a hash of their
                ids, so it is the same in every run. None plays all.
            split: Of the configuration, from which they are; from all when None.

        Raises:
            CotuneError: Something is missing or wrong.
        """
        scenarios = _sample(_scenarios(config, split), most)
        prompts = load_seed(config)
        require_known(models_of(config))
        folder = config.out / f"simulation-{_run_id(config, prompts)}"
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

    def execute(self, ledger: Ledger, observer: SimulationObserver) -> SimulationEnd:
        """Play what is not in the run's journal, and write all conversations to `trajectories`.

        The run's folder is made when the models are known to answer. When the run stops early,
        because it paused, the budget is spent or a model fails for good, what was played until
        then is written, too.

        Raises:
            UsageError: A scenario cannot be played.
            CotuneError: A model cannot be used, or the run's folder cannot be written; nothing
                was played.
        """
        limits = self.config.limits.model_copy(update={"rollouts": len(self.workload)})
        budget = Budget(limits)
        with ExitStack() as stack:
            models, served = stack.enter_context(serving(models_of(self.config)))
            setup = setup_of(self.config, models, served)
            return blocking(self._run(setup, ledger, budget, observer))

    async def _run(
        self, setup: Setup, ledger: Ledger, budget: Budget, observer: SimulationObserver
    ) -> SimulationEnd:
        player = Player.of(setup, ledger, budget)
        source = self.config.simulation.scenarios
        require_playable(player, self.prompts, self.scenarios, source)
        for model in player.models.values():
            await check_reachable(model)
        make_writable(self.folder)
        with Journal(self.folder / JOURNAL) as journal:
            simulator = Simulator(
                engine=engine_of(self.config, setup, player, ledger, budget),
                identity=player.identity,
                journal=journal,
                ledger=ledger,
                budget=budget,
                observer=observer,
                again=self.config.simulation.again,
                fault_threshold=self.config.fault_threshold,
            )
            return await self._play(simulator)

    async def _play(self, simulator: Simulator) -> SimulationEnd:
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
            await simulator.engine.aclose()
            played = simulator.ended(self.workload)
            write_trajectories(self.trajectories, (each.trajectory for each in played))


def _out_of_budget(error: BudgetExhaustedError) -> CotuneError:
    return CotuneError(
        f"The run stopped: {error}. The conversations that had ended are kept. Raise 'limits' in "
        "the configuration and run the same command again; it goes on from here."
    )


def _scenarios(config: RunConfig, split: str | None) -> Sequence[Scenario]:
    """Return those of a split; a person who looks at some need not see those of the test."""
    source = config.simulation.scenarios
    if split is None:
        return load_scenarios(source)
    return config.system.load_splits(source).split(split)


def _sample(scenarios: Sequence[Scenario], most: int | None) -> Sequence[Scenario]:
    if most is None or most >= len(scenarios):
        return scenarios
    chosen = sorted(scenarios, key=lambda scenario: fingerprint(scenario.id))[:most]
    kept = {scenario.id for scenario in chosen}
    return [scenario for scenario in scenarios if scenario.id in kept]


def _run_id(config: RunConfig, prompts: PromptBundle) -> str:
    """Name what makes a simulation another one, so that it gets a folder of its own.

    More scenarios, more repeats, other limits of time and money and the same command typed in
    another folder go on from the journal that is there.
    """
    settings, here = config.simulation, Path.cwd()
    models = models_of(config)
    content = [
        config.assistant.name,
        config.seed,
        [models[role].identity() if role in models else None for role in (Role.TASK, Role.USER)],
        prompts.fingerprint,
        settings.scenarios if settings.scenarios in PACKS else str(here / settings.scenarios),
        settings.user.relative_to(here).model_dump(mode="json"),
        settings.conversation.identity,
    ]
    return fingerprint(content, 8)
