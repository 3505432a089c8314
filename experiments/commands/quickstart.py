"""`cotune quickstart`: the agent task end to end, with nothing to prepare."""

from __future__ import annotations

from rich.console import Console

from ...agents.grocery.assistant import PROMPTS
from ...agents.local.catalog import get_model
from ...agents.local.store import find_model
from ...agents.models import LOCAL
from ..config import RunConfig, load_config
from .model import pull_shown
from .optimize import optimize
from .options import Options
from .starter import STARTER

AGENT = "router"


def run(options: Options) -> None:
    """Run the command; see `cotune quickstart --help`."""
    config = options.applied_to(load_config(STARTER, base=PROMPTS.parent))
    task = config.models.task
    if task.is_local:
        model = get_model(task.model.removeprefix(LOCAL))
        if find_model(model.name) is None:
            pull_shown(model, Console(stderr=True))
    elif not task.is_scripted:
        config = _with_reflection(config)
    optimize(config, AGENT, options)


def _with_reflection(config: RunConfig) -> RunConfig:
    """A hosted model is good enough to write prompts too."""
    writer = config.models.task.model_copy(update={"temperature": None, "max_tokens": None})
    models = config.models.model_copy(update={"reflection": writer})
    return config.model_copy(update={"models": models, "proposer": "reflection"})
