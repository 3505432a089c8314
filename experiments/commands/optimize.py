"""`cotune optimize agent`: one run, shown, tracked and reported."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from ...agents.errors import CotuneError, UsageError
from ...simulation.journal import Journal
from ...simulation.paused import PausedError
from ..agent_run import AgentRun
from ..config import RunConfig, load_config
from ..present import announce, conclude
from ..progress import RunProgress
from ..report import render_report, save_report
from ..run_record import RunRecord, record_of
from ..tracking import Tracker
from .options import Options
from .resumable import resumable

Log = Callable[[RunRecord, str], bool]
"""Writes a finished run and its report to MLflow; whether it was written."""

_MLFLOW_NOTE = "mlflow_run"


def run(name: str, config_file: Path, options: Options) -> None:
    """Run the command; see `cotune optimize agent --help`.

    Raises:
        UsageError: The configuration cannot be used, or sets no limit to the rollouts.
    """
    config = options.applied_to(load_config(config_file))
    if config.limits.rollouts is None:
        raise UsageError(
            f"The configuration {config_file} has no limits.rollouts, and nothing is optimized "
            "without a limit. Add 'limits: {rollouts: 400}', or as many scored calls as you can "
            "afford; when that buys no candidate, the command says how many do."
        )
    optimize(config, name, options)


def optimize(config: RunConfig, name: str, options: Options) -> RunRecord:
    """Run, show, track and report."""
    console = Console(stderr=options.as_json)
    run_ = AgentRun.prepare(config, name, shlex.join(["cotune", *sys.argv[1:]]))
    announce(run_, console)
    tracker = Tracker(config.tracking.uri, config.tracking.experiment) if options.track else None
    with resumable(), run_.journal() as journal, _tracked(tracker, run_, journal) as log:
        with RunProgress(console) as progress:
            result = run_.execute(journal, progress)
        record = record_of(result, run_.about)
        record.save(run_.folder)
        result.winner.bundle.save(run_.folder / "prompts")
        page = render_report(record)
        report = save_report(page, run_.folder)
        log(record, page)
    conclude(record, report, config.tracking.uri if options.track else None, console)
    if options.as_json:
        typer.echo(record.model_dump_json(indent=2))
    return record


@contextmanager
def _tracked(tracker: Tracker | None, run: AgentRun, journal: Journal) -> Iterator[Log]:
    """Open the run in MLflow and give what writes its end; however it ends, MLflow knows."""
    if tracker is None:
        yield _not_tracked
        return
    run_id = tracker.begin(run.about, journal.note(_MLFLOW_NOTE))
    try:
        journal.write_note(_MLFLOW_NOTE, run_id)
        yield lambda record, page: tracker.log(record, page, run_id)
    except PausedError as error:
        tracker.pause(run_id, str(error))
        raise
    except KeyboardInterrupt:
        tracker.pause(run_id, "stopped by the user")
        raise
    except BaseException as error:  # SystemExit too, when nobody reads the output any more
        tracker.fail(run_id, str(error) if isinstance(error, CotuneError) else repr(error))
        raise


def _not_tracked(record: RunRecord, page: str) -> bool:
    return False
