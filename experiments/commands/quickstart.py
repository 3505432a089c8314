"""`cotune quickstart`: the agent task end to end, with nothing to prepare."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ...agents.grocery.assistant import PROMPTS
from ...agents.local.catalog import get_model
from ...agents.local.store import find_model
from ...agents.models import LOCAL
from ..config import load_config
from .model import pull_shown
from .optimize import optimize, with_options

AGENT = "router"
STARTER = Path(__file__).parent.parent / "starter" / "cotune.yaml"


def run(
    model: str,
    api_base: str | None,
    seed: int | None,
    out: Path | None,
    *,
    track: bool,
    as_json: bool,
) -> None:
    """Run the command; see `cotune quickstart --help`."""
    config = load_config(STARTER, base=PROMPTS.parent)
    config = with_options(config, model, api_base, seed, out or Path("cotune-runs"))
    task = config.models.task
    if task.is_local:
        name = task.model.removeprefix(LOCAL)
        if find_model(name) is None:
            pull_shown(get_model(name), Console(stderr=True))
    optimize(config, AGENT, track=track, as_json=as_json)
