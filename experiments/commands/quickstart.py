"""`cotune quickstart`: an optimization end to end, with nothing to prepare."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ...agents.errors import UsageError
from ...agents.grocery.assistant import PROMPTS
from ...agents.local.catalog import get_model
from ...agents.local.store import find_model
from ...agents.models import LOCAL
from ..config import RunConfig, load_config
from .model import pull_shown
from .optimize import optimize_agent, optimize_system
from .options import OptimizeOptions, Options
from .starter import SMALL_SYSTEM_STARTER, STARTER, SYSTEM_STARTER

AGENT = "router"
_SCOPES = ("agent", "system")


def run(options: Options, scope: str) -> None:
    """Run the command; see `cotune quickstart --help`.

    Raises:
        UsageError: There is no such scope.
    """
    if scope not in _SCOPES:
        raise UsageError(f"--scope is '{scope}'; allowed: {', '.join(_SCOPES)}.")
    config = _config(options, STARTER if scope == "agent" else SYSTEM_STARTER)
    task = config.models.task
    assert task is not None  # the starters have one
    if task.is_local:
        model = get_model(task.model.removeprefix(LOCAL))
        if find_model(model.name) is None:
            pull_shown(model, Console(stderr=True))
        if scope == "system":
            config = _config(options, SMALL_SYSTEM_STARTER)
    elif not task.is_scripted:
        config = _with_reflection(config)
    if scope == "agent":
        optimize_agent(config, AGENT, options)
    else:
        optimize_system(config, OptimizeOptions(options, yes=True))


def _config(options: Options, starter: Path) -> RunConfig:
    return options.applied_to(load_config(starter, base=PROMPTS.parent))


def _with_reflection(config: RunConfig) -> RunConfig:
    """A hosted model is good enough to write prompts too."""
    assert config.models.task is not None
    writer = config.models.task.model_copy(update={"temperature": None, "max_tokens": None})
    models = config.models.model_copy(update={"reflection": writer})
    return config.model_copy(update={"models": models, "proposer": "reflection"})
