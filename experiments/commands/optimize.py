"""`cotune optimize agent`: one run, shown, tracked and reported."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from ...agents.errors import CotuneError
from ...agents.models import ModelSettings
from ...optimizer.evaluator import PausedError
from ..agent_run import AgentRun
from ..config import RunConfig, load_config
from ..present import announce, conclude
from ..progress import RunProgress
from ..report import render_report, save_report
from ..run_record import RunRecord, record_of
from ..tracking import Tracker

_MLFLOW_NOTE = "mlflow_run"
_SHORT_NAMES = {"local": "local:qwen2.5-coder-1.5b", "scripted": "scripted:grocery"}


def run(
    name: str,
    config_file: Path,
    model: str | None,
    api_base: str | None,
    seed: int | None,
    out: Path | None,
    *,
    track: bool,
    as_json: bool,
) -> None:
    """Run the command; see `cotune optimize agent --help`."""
    config = load_config(config_file)
    config = with_options(config, model, api_base, seed, out)
    optimize(config, name, track=track, as_json=as_json)


def with_options(
    config: RunConfig, model: str | None, api_base: str | None, seed: int | None, out: Path | None
) -> RunConfig:
    """Return the configuration with what was given on the command line instead."""
    changes: dict[str, object] = {}
    if model is not None or api_base is not None:
        task = config.models.task
        wanted = task.model if model is None else _SHORT_NAMES.get(model, model)
        task = ModelSettings.model_validate(
            {**task.model_dump(), "model": wanted, "api_base": api_base or task.api_base}
        )
        changes["models"] = config.models.model_copy(update={"task": task})
    if seed is not None:
        changes["seed"] = seed
    if out is not None:
        changes["out"] = out
    return config.model_copy(update=changes)


def optimize(config: RunConfig, name: str, *, track: bool, as_json: bool) -> RunRecord:
    """Run, show, track and report; with `as_json` the record alone goes to standard output."""
    console = Console(stderr=as_json)
    run_ = AgentRun.prepare(config, name, shlex.join(["cotune", *sys.argv[1:]]))
    announce(run_, console)
    tracker = Tracker(config.tracking.uri, config.tracking.experiment) if track else None
    with run_.journal() as journal:
        run_id = None
        if tracker is not None:
            run_id = tracker.begin(run_.about, journal.note(_MLFLOW_NOTE))
            journal.write_note(_MLFLOW_NOTE, run_id)
        with _telling(tracker, run_id), RunProgress(console) as progress:
            result = run_.execute(journal, progress)
    record = record_of(result, run_.about)
    record.save(run_.folder)
    result.winner.bundle.save(run_.folder / "prompts")
    page = render_report(record)
    report = save_report(page, run_.folder)
    if tracker is not None and run_id is not None:
        tracker.log(record, page, run_id)
    conclude(record, report, config.tracking.uri if track else None, console)
    if as_json:
        typer.echo(record.model_dump_json(indent=2))
    return record


@contextmanager
def _telling(tracker: Tracker | None, run_id: str | None) -> Iterator[None]:
    """Tell MLflow and the person how a run ended that did not finish."""
    try:
        yield
    except PausedError as error:
        if tracker is not None and run_id is not None:
            tracker.pause(run_id, str(error))
        raise
    except KeyboardInterrupt:
        if tracker is not None and run_id is not None:
            tracker.pause(run_id, "stopped by the user")
        typer.echo(
            "Stopped. What was paid for is in the journal: run the same command again and it "
            "goes on from here.",
            err=True,
        )
        raise typer.Exit(130) from None
    except CotuneError as error:
        if tracker is not None and run_id is not None:
            tracker.fail(run_id, str(error))
        raise
