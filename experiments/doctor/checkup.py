"""The checkup: every look that the doctor takes, cheap ones first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ...agents.connect import connect
from ...agents.errors import CotuneError, UsageError
from ...agents.ledger import Ledger, Role
from ...agents.lm import LanguageModel
from ...agents.models import ModelSettings
from ...agents.prompts import PromptBundle
from ...optimizer.example import Splits
from ...optimizer.plan import Plan
from ...simulation.player import Player
from ...simulation.scenario import Scenario
from ..config import RunConfig, load_config
from ..conversing import models_of, setup_of
from ..model_access import serving
from . import checks, models
from .examination import examined
from .finding import Finding, Level, fine, problem, skipped

Heard = Callable[[Finding], None]


def checkup(path: Path, heard: Heard, *, ask_models: bool = True) -> list[Finding]:
    """Look at everything that a run of the system task depends on.

    A few turns are played, so a hosted model costs some cents; nothing is optimized.

    Args:
        path: The configuration.
        heard: Told each finding as it is made.
        ask_models: Whether models are called; without it only files are looked at.

    Returns:
        The findings in the order in which they were made.
    """
    found: list[Finding] = []
    for finding in _findings(path, ask_models):
        found.append(finding)
        heard(finding)
    return found


def _findings(path: Path, ask_models: bool) -> Iterator[Finding]:
    try:
        config = load_config(path)
    except UsageError as error:
        yield problem("configuration", str(error), "Mend what it names.")
        return
    yield fine("configuration", f"{path} can be read.")
    prompts, assistant = checks.seed_prompts(config)
    yield assistant
    splits, scenarios = checks.scenarios_of(config)
    yield scenarios
    yield from checks.rubric_of(config, prompts)
    yield checks.judge_of(config)
    plan = None
    if splits is not None:
        plan, budget = checks.plan_of(config, splits)
        yield budget
    yield checks.tracking_of(config)
    if not ask_models:
        yield skipped("models", "Not asked.")
    elif prompts is not None and splits is not None:
        yield from _asked(config, prompts, splits, plan)


def _asked(
    config: RunConfig, prompts: PromptBundle, splits: Splits[Scenario], plan: Plan | None
) -> Iterator[Finding]:
    ledger = Ledger()
    try:
        with serving(_wanted(config)) as (fitted, served):
            connected = connect(fitted, served, ledger)
            player = Player.of(setup_of(config, fitted, served), ledger)
            yield from asyncio.run(_talked(config, connected, player, prompts, splits))
    except CotuneError as error:
        yield problem("models", str(error), "See name, address and key under 'models'.")
        return
    yield models.prices(config, ledger)
    yield models.forecast(ledger, plan)


def _wanted(config: RunConfig) -> dict[Role, ModelSettings]:
    others = {Role.JUDGE: config.models.judge, Role.REFLECTION: config.models.reflection}
    named = {role: model for role, model in others.items() if model is not None}
    return {**models_of(config), **named}


async def _talked(
    config: RunConfig,
    connected: Mapping[Role, LanguageModel],
    player: Player,
    prompts: PromptBundle,
    splits: Splits[Scenario],
) -> list[Finding]:
    found = await models.asked(config, connected)
    if any(each.level is Level.PROBLEM for each in found):
        return [*found, skipped("replies", "Not looked at, because a model does not answer.")]
    return [*found, *await examined(player, prompts, splits.train[: models.PLAYED])]
