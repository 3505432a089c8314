"""`cotune optimize agent`: one run, shown, tracked and reported."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from ...agents.errors import CotuneError
from ...simulation.journal import Journal
from ...simulation.paused import PausedError
from ..agent_run import AgentRun
from ..config import Models, RunConfig, load_config
from ..present import announce, conclude
from ..progress import RunProgress
from ..report import render_report, save_report
from ..run_record import RunRecord, record_of
from ..tracking import Tracker

Log = Callable[[RunRecord, str], bool]
"""Writes a finished run and its report to MLflow; whether it was written."""

_MLFLOW_NOTE = "mlflow_run"
_OF_ONE_PROVIDER = ("api_base", "api_key_env", "price")  # wrong, or secret, for another
SHORT_NAMES = {"local": "local:qwen2.5-coder-1.5b", "scripted": "scripted:grocery"}


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line may say instead of the configuration; None leaves it as it is.

    Attributes:
        model: Model the agents run on; `local` and `scripted` are short for the ones we bring.
        api_base: Address of an OpenAI-compatible endpoint for it.
        seed: From which all randomness comes.
        out: Folder for the runs.
        track: Whether MLflow is told.
        as_json: Whether the record alone goes to standard output.
    """

    model: str | None
    api_base: str | None
    seed: int | None
    out: Path | None
    track: bool
    as_json: bool

    def applied_to(self, config: RunConfig) -> RunConfig:
        """Return the configuration with these options instead."""
        changes: dict[str, object] = {"models": self._models(config.models)}
        if self.seed is not None:
            changes["seed"] = self.seed
        if self.out is not None:
            changes["out"] = self.out
        return config.model_copy(update=changes)

    def _models(self, models: Models) -> Models:
        task = models.task
        if self.model is not None:
            name = SHORT_NAMES.get(self.model, self.model)
            nothing = dict.fromkeys(_OF_ONE_PROVIDER)
            task = task.model_copy(update={"model": name, **nothing})
        if self.api_base is not None:
            task = task.model_copy(update={"api_base": self.api_base})
        return models.model_copy(update={"task": task})


def run(name: str, config_file: Path, options: Options) -> None:
    """Run the command; see `cotune optimize agent --help`."""
    optimize(options.applied_to(load_config(config_file)), name, options)


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
def resumable() -> Iterator[None]:
    """Tell a person who stops a run how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(
            "Stopped. What was paid for is in the journal: run the same command again and it "
            "goes on from here.",
            err=True,
        )
        raise typer.Exit(130) from None


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
