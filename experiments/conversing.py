"""What a configuration says about conversations, built: who plays them, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..agents.budget import Budget
from ..agents.connect import Served
from ..agents.errors import UsageError
from ..agents.ledger import Ledger, Role
from ..agents.models import ModelSettings
from ..agents.prompts import PromptBundle
from ..simulation.engines.engine import Engine
from ..simulation.engines.in_process import InProcess
from ..simulation.engines.on_ray import OnRay
from ..simulation.player import Player
from ..simulation.scenario import Scenario
from ..simulation.setup import Setup
from ..simulation.users.settings import needs_a_model
from .config import RunConfig


def models_of(config: RunConfig) -> dict[Role, ModelSettings]:
    """Return the models that a conversation calls, by role."""
    models = {Role.TASK: config.models.task}
    if needs_a_model(config.simulation.user):
        models[Role.USER] = config.models.of_customers
    return {role: model for role, model in models.items() if model is not None}


def setup_of(
    config: RunConfig, models: Mapping[Role, ModelSettings], served: Mapping[str, Served]
) -> Setup:
    """Return who plays.

    Args:
        config: The configuration.
        models: Models by role, as they are served; roles that play no part are left out.
        served: By model string, where each embedded model is served.
    """
    return Setup(
        assistant=config.assistant,
        models={role: models[role] for role in models_of(config)},
        served=dict(served),
        user=config.simulation.user,
        limits=config.simulation.conversation,
    )


def engine_of(
    config: RunConfig, setup: Setup, player: Player, ledger: Ledger, budget: Budget
) -> Engine:
    """Return where conversations are played: in this process, or on a Ray cluster."""
    settings = config.simulation
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


def require_playable(
    player: Player, prompts: PromptBundle, scenarios: Sequence[Scenario], source: str
) -> None:
    """Refuse a scenario that assistant or customer cannot play, before anything is spent.

    Raises:
        UsageError: There is one.
    """
    for scenario in scenarios:
        try:
            player.assistant.start(prompts, scenario.initial_state, 0)
            player.users.start(scenario, 0)
        except UsageError as error:
            raise UsageError(
                f"Scenario '{scenario.id}' of {source} cannot be played: {error}"
            ) from error
