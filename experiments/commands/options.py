"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...agents.errors import UsageError
from ...agents.models import ModelSettings
from ..config import Models, RunConfig

_OF_ONE_PROVIDER = ("api_base", "api_key_env", "price")  # wrong, or secret, for another
SHORT_NAMES = {"local": "local:qwen2.5-coder-1.5b", "scripted": "scripted:grocery"}


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line may say instead of the configuration; None leaves it as it is.

    Attributes:
        model: Model the agents run on; `local` and `scripted` are short for the ones we bring.
        api_base: Address of an OpenAI-compatible endpoint for it.
        seed: From which all randomness comes.
        out: Folder for the runs.
        track: Whether MLflow is told.
        as_json: Whether the record alone goes to standard output.
    """

    model: str | None
    api_base: str | None
    seed: int | None
    out: Path | None
    track: bool
    as_json: bool

    def applied_to(self, config: RunConfig) -> RunConfig:
        """Return the configuration with these options instead."""
        changes: dict[str, object] = {"models": self._models(config.models)}
        if self.seed is not None:
            changes["seed"] = self.seed
        if self.out is not None:
            changes["out"] = self.out
        return config.model_copy(update=changes)

    def _models(self, models: Models) -> Models:
        task = models.task
        if self.model is not None:
            name = SHORT_NAMES.get(self.model, self.model)
            nothing = dict.fromkeys(_OF_ONE_PROVIDER)
            task = task or ModelSettings(model=name)
            task = task.model_copy(update={"model": name, **nothing})
        if self.api_base is not None:
            if task is None:
                raise UsageError("--api-base belongs to a model: name one with --model, too.")
            task = task.model_copy(update={"api_base": self.api_base})
        return models.model_copy(update={"task": task})


@dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """What `cotune optimize system` may be told beside what the configuration says.

    Attributes:
        common: What other commands have, too.
        rollouts: The limit of rollouts.
        usd: The limit of money, in US dollars.
        started_from: Other runs whose winners' prompts are started from.
        yes: Whether not to ask before the budget is spent.
        least_kappa: Least agreement of the judge with people, by its card; None requires none.
    """

    common: Options
    rollouts: int | None = None
    usd: float | None = None
    started_from: Sequence[Path] = ()
    yes: bool = False
    least_kappa: float | None = None

    def applied_to(self, config: RunConfig) -> RunConfig:
        """Return the configuration with these options instead."""
        config = self.common.applied_to(config)
        said = {"rollouts": self.rollouts, "usd": self.usd}
        limits = {name: value for name, value in said.items() if value is not None}
        return config.model_copy(update={"limits": config.limits.model_copy(update=limits)})
