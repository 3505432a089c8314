"""Sync: finished runs are written to MLflow from their folders, as often as it takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..agents.errors import CotuneError, UsageError
from ..agents.redact import public
from ..simulation.journal import Journal
from .contrast import load_contrasts
from .report import render_report
from .run_folder import JOURNAL, named_run
from .run_record import FILE_NAME
from .tracked_run import TrackedRun
from .tracking import Tracker
from .warm_start import read_record


def sync_runs(run: Path | None, out: Path, uri: str | None) -> Iterator[str]:
    """Write runs to MLflow and yield what was done, a sentence each.

    Args:
        run: A run's folder, or its name; all in `out` when None.
        out: The folder for runs.
        uri: Where to; where each run's configuration says when None.

    Raises:
        UsageError: There is no such run, or its tracking URI is not known.
        CotuneError: MLflow cannot be used, or the run goes on.
    """
    folders = [named_run(run, out)] if run is not None else _finished(out)
    if not folders:
        raise UsageError(f"There is no finished run in {out}. Name its folder, or --out.")
    for folder in folders:
        yield _synced(folder, out, uri)


def _synced(folder: Path, out: Path, uri: str | None) -> str:
    record = read_record(folder, out)
    tracker = Tracker.of(record, uri)
    with Journal(folder / JOURNAL) as journal:
        run = TrackedRun(tracker, journal)
        if uri is None and run.is_written(record):
            return f"{record.name}: MLflow has it."
        contrasts = load_contrasts(folder)
        run.begin(record)
        if not run.log(record, render_report(record, contrasts), contrasts):
            raise CotuneError(f"{record.name} was not written to MLflow; see the warning above.")
    return f"{record.name}: written to MLflow at {public(tracker.uri)}."


def _finished(out: Path) -> list[Path]:
    return sorted(path.parent for path in out.glob(f"*/{FILE_NAME}"))
