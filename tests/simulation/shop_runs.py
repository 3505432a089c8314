"""Runs of the real grocery assistant on the scripted model, with providers that fail."""

from __future__ import annotations

from cotune.agents.budget import Budget, Limits
from cotune.agents.ledger import Ledger, Role
from cotune.agents.models import ModelSettings
from cotune.simulation.engines.engine import Engine
from cotune.simulation.engines.in_process import InProcess
from cotune.simulation.journal import Journal
from cotune.simulation.observer import SimulationObserver, Unwatched
from cotune.simulation.player import Player
from cotune.simulation.scenario import Scenario
from cotune.simulation.setup import Setup
from cotune.simulation.simulator import Simulator
from cotune.simulation.trajectory import Trajectory
from cotune.simulation.users.settings import FixedUserSettings
from cotune.simulation.work import Workload

FAULTS = "rate_limit=0.10&server_error=0.05&timeout=0.05&invalid_json=0.05&empty=0.02"
MESSAGES = ("I would like some oat milk.", "Two of those please.", "And whole wheat bread.")


class ShopRun:
    """A run with what counts its calls.

    Attributes:
        setup: Who plays.
        player: The same, built; it plays where no other engine is given.
        work: All conversations.
    """

    def __init__(
        self,
        count: int,
        faults: str = "",
        *,
        attempts: int = 8,
        messages: tuple[str, ...] = MESSAGES,
    ) -> None:
        model = ModelSettings(
            model=f"scripted:grocery?{faults}".rstrip("?"),
            max_tokens=4000,
            attempts=attempts,
            max_wait=0,
            concurrency=16,
        )
        users = FixedUserSettings(messages=messages)
        self.setup = Setup(models={Role.TASK: model}, user=users)
        self.ledger = Ledger()
        self.budget = Budget(Limits(rollouts=10_000))
        self.player = Player.of(self.setup, self.ledger, self.budget)
        scenarios = [
            Scenario(id=f"s{number}", family="f", goal="breakfast") for number in range(count)
        ]
        self.work = Workload(scenarios, self.player.assistant.prompts)

    def simulator(
        self,
        journal: Journal,
        engine: Engine | None = None,
        observer: SimulationObserver | None = None,
    ) -> Simulator:
        return Simulator(
            engine=engine or InProcess(self.player, 16),
            identity=self.player.identity,
            journal=journal,
            ledger=self.ledger,
            budget=self.budget,
            observer=observer or Unwatched(),
        )

    def trajectories(self, simulator: Simulator) -> list[Trajectory]:
        return [played.trajectory for played in simulator.ended(self.work)]
