"""`cotune report`: the page of a finished run, written again, and its conclusion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(help="A run's folder, its name, or latest.")],
    out: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("cotune-runs"),
    to: Annotated[
        Path | None,
        typer.Option(help="The page to write; report.html in the run's folder when left out."),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Say what a finished run found, and write its page: one file that needs no network."""
    from rich.console import Console

    from ..contrast import load_contrasts
    from ..present import conclude
    from ..report import FILE_NAME, render_report, write_page
    from ..run_folder import named_run
    from ..warm_start import read_record

    folder = named_run(run, out)
    record = read_record(run, out)
    page = write_page(render_report(record, load_contrasts(folder)), to or folder / FILE_NAME)
    conclude(record, page, None, Console())
    if open_:
        typer.launch(page.resolve().as_uri())
