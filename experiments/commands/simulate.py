"""`cotune simulate`: many conversations, shown as they go, summed up and written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import typer
from rich.console import Console

from ...agents.errors import UsageError
from ...agents.grocery.assistant import PROMPTS
from ...agents.ledger import Ledger
from ...simulation.users.settings import (
    AgendaUserSettings,
    LlmUserSettings,
    TemplateUserSettings,
    UserSettings,
)
from ..config import RaySettings, RunConfig, SimulationConfig, load_config
from ..simulation_progress import SimulationProgress
from ..simulation_run import SimulationRun
from ..simulation_summary import announce, present, summary_json
from .options import Options
from .resumable import resumable
from .starter import STARTER

SUMMARY = "summary.json"
_Value = TypeVar("_Value")
_USERS: dict[str, UserSettings] = {
    "agenda": AgendaUserSettings(),
    "llm": LlmUserSettings(),
    "template": TemplateUserSettings(),
}


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """What the command line may say instead of the configuration; None leaves it as it is.

    Attributes:
        common: What other commands have, too.
        scenarios: Scenarios that are played at most.
        repeats: Conversations per scenario.
        user: Kind of customer.
        engine: `asyncio`, or `ray`.
        workers: Processes, with `ray`.
        split: Of the configuration, from which the scenarios are.
    """

    common: Options
    scenarios: int | None = None
    repeats: int | None = None
    user: str | None = None
    engine: str | None = None
    workers: int | None = None
    split: str | None = None

    def applied_to(self, config: RunConfig) -> RunConfig:
        """Return the configuration with these options instead.

        Raises:
            UsageError: There is no such kind of customer or engine.
        """
        config = self.common.applied_to(config)
        simulation = config.simulation
        if self.repeats is not None:
            simulation = simulation.model_copy(update={"repeats": self.repeats})
        if self.user is not None:
            user = _named("--user", self.user, _USERS)
            simulation = simulation.model_copy(update={"user": user})
        simulation = self._engine(simulation)
        return config.model_copy(update={"simulation": simulation})

    def _engine(self, simulation: SimulationConfig) -> SimulationConfig:
        if self.engine is not None:
            ray = _named("--engine", self.engine, {"asyncio": None, "ray": RaySettings()})
            simulation = simulation.model_copy(update={"ray": ray})
        if self.workers is not None:
            if simulation.ray is None:
                raise UsageError("--workers goes with --engine ray; asyncio plays in one process.")
            ray = simulation.ray.model_copy(update={"workers": self.workers})
            simulation = simulation.model_copy(update={"ray": ray})
        return simulation


def run(config_file: Path | None, options: SimulateOptions) -> None:
    """Run the command; see `cotune simulate --help`."""
    if config_file is None:
        config = load_config(STARTER, base=PROMPTS.parent)
        config = config.model_copy(update={"out": Path("cotune-runs")})
    else:
        config = load_config(config_file)
    simulate(options.applied_to(config), options)


def simulate(config: RunConfig, options: SimulateOptions) -> None:
    """Play, show and write down.

    Raises:
        CotuneError: The run stopped early; what was played until then was shown and written.
    """
    console = Console(stderr=options.common.as_json)
    run_ = SimulationRun.prepare(config, options.scenarios, options.split)
    announce(run_, console)
    ledger = Ledger()
    progress = SimulationProgress(console, ledger, len(run_.workload))
    with resumable(), progress:
        end = run_.execute(ledger, progress)
    record = summary_json(end, ledger, run_)
    (run_.folder / SUMMARY).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    present(end.summary, ledger, run_, console)
    if options.common.as_json:
        typer.echo(json.dumps(record, indent=2))
    if end.stopped is not None:
        raise end.stopped


def _named(option: str, name: str, known: Mapping[str, _Value]) -> _Value:
    if name not in known:
        raise UsageError(f"{option} is '{name}'; allowed: {', '.join(known)}.")
    return known[name]
