"""`cotune calibrate`: from people's annotations to a judge with a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from . import calibration_arguments as given
from .arguments import ConversationTokens, JudgeApiBase, JudgeApiKeyEnv, Played, Tokens, Usd

if TYPE_CHECKING:
    from ..calibration_run import CalibrationRun

_NO_FIELDS = ("config", "as_json")


def calibrate(
    typed: typer.Context,
    annotations: given.Annotations = None,
    config: given.Config = None,
    trajectories: given.Trajectories = None,
    rubric: given.Rubric = None,
    judge: given.Judge = None,
    strategy: given.Strategy = None,
    reflection: given.Reflection = None,
    scenarios: Played = None,
    gold: given.Gold = None,
    certainty: given.Certainty = None,
    train: given.Train = None,
    val: given.Val = None,
    tested: given.Tested = None,
    width: given.Width = None,
    rollouts: given.Rollouts = None,
    tokens: Tokens = None,
    usd: Usd = None,
    api_base: JudgeApiBase = None,
    api_key_env: JudgeApiKeyEnv = None,
    repeats: given.Repeats = None,
    conversation_tokens: ConversationTokens = None,
    seed: given.Seed = None,
    out: given.Out = None,
    mlflow: given.Mlflow = None,
    as_json: given.CardAsJson = False,
) -> None:
    """Make a judge agree with people, prove it on labels it never saw, and write its card."""
    from ..calibration_config import CalibrationConfig

    said = CalibrationConfig() if config is None else CalibrationConfig.load(config)
    said = said.overridden(_options(typed))
    run(said.prepared(), said.mlflow, as_json=as_json)


def _options(typed: typer.Context) -> dict[str, object]:
    """Return the options that were typed, under the names of the configuration's fields."""
    return {
        name: value
        for name, value in typed.params.items()
        if name not in _NO_FIELDS and value not in (None, ())
    }


def run(prepared: CalibrationRun, mlflow: str | None, *, as_json: bool) -> None:
    """Calibrate, show, and write card, page and prompts into the run's folder, and to MLflow."""
    from rich.console import Console

    from ...agents.ledger import Ledger
    from ..calibration import CARD
    from ..calibration import calibrate as carry_out
    from ..calibration_tables import announce, present
    from ..progress import RunProgress
    from ..tracked_card import track_card
    from .resumable import resumable

    console, ledger = Console(stderr=as_json), Ledger()
    announce(prepared, console)
    with resumable(), RunProgress(console, ledger, "conversation") as progress:
        card = carry_out(prepared, ledger, progress)
    present(card, console)
    console.print(f"The card: {prepared.folder / CARD}", highlight=False, soft_wrap=True)
    if as_json:
        typer.echo(card.model_dump_json(indent=2))
    if mlflow is not None:
        track_card(card, prepared.folder, mlflow)
