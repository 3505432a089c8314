"""`cotune runs`: what was run, and MLflow's copy of it.

What needs MLflow or a run's record is imported when a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="About finished runs.")


@app.callback()
def runs() -> None:
    """Keep `sync` a command of its own, though it is the only one."""


@app.command()
def sync(
    run: Annotated[
        Path | None,
        typer.Argument(
            help="A run's folder, its name, or latest; all that MLflow lacks when left out."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("cotune-runs"),
    uri: Annotated[
        str | None,
        typer.Option(help="Tracking URI; the one of the run's configuration when left out."),
    ] = None,
) -> None:
    """Write finished runs to MLflow that could not be written when they ended."""
    from ..run_sync import sync_runs  # noqa: PLC0415

    for said in sync_runs(run, out, uri):
        typer.echo(said)
