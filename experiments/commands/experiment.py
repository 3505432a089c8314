"""`cotune experiment`: comparisons that a paper made, made again.

What they need is imported when a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Make a paper's comparison again.")


@app.callback()
def group() -> None:
    """Keep the name of the only command."""


@app.command()
def magic(  # noqa: PLR0913, PLR0917  (options are arguments)
    config_file: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="A configuration; its limits.rollouts are each arm's. One that suits the model "
            "when left out.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Model to run on: 'scripted' (a simulation, the default), 'local' (embedded), or "
            "a LiteLLM model string, with --hosted.",
        ),
    ] = None,
    api_base: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible endpoint for --model.")
    ] = None,
    hosted: Annotated[
        bool, typer.Option("--hosted", help="Allow a model that may cost money; needs a limit.")
    ] = False,
    rollouts: Annotated[
        int | None,
        typer.Option(min=1, help="Each arm's budget for search and selection; tests come on top."),
    ] = None,
    train: Annotated[int | None, typer.Option(min=1, help="Train scenarios at most.")] = None,
    val: Annotated[int | None, typer.Option(min=1, help="Val scenarios at most.")] = None,
    test: Annotated[int | None, typer.Option(min=1, help="Held-out scenarios at most.")] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="How long it may take, about.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens to use at most, all together.")
    ] = None,
    usd: Annotated[
        float | None, typer.Option(min=0.01, help="US dollars to spend at most, all together.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same run.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the runs.")] = None,
    no_mlflow: Annotated[
        bool, typer.Option("--no-mlflow", help="Do not write the comparison to MLflow.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Compare agents improved alone, the whole assistant improved together, and both."""
    from .magic import MagicOptions, run  # noqa: PLC0415
    from .options import Options  # noqa: PLC0415

    common = Options(model, api_base, seed, out, not no_mlflow, as_json)
    asked = MagicOptions(common, rollouts, train, val, test, tokens, usd, minutes, hosted)
    run(config_file, asked)
