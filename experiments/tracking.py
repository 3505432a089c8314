"""Tracking: one MLflow run per optimization, written before and after it, never during.

MLflow is slow to import and to call, so nothing here runs while rollouts do. The run's folder
holds everything MLflow is told; when MLflow fails at the end, a warning says so and nothing is
lost.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError
from ..agents.redact import public
from .conclusion import sentence
from .prompt_registry import register_winner
from .run_record import RunAbout, RunRecord, config_yaml
from .tracked_values import (
    Point,
    artifacts_of,
    begin_tags,
    end_tags,
    metrics_of,
    params_of,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

DEFAULT_URI = "sqlite:///mlflow.db"
_SQLITE = "sqlite:///"
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # its default waits for minutes on a dead server
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tracker:
    """Writes runs to MLflow.

    Attributes:
        uri: MLflow's tracking URI.
        experiment: Name of the MLflow experiment; created when it does not exist.
    """

    uri: str = DEFAULT_URI
    experiment: str = "cotune"

    def begin(self, about: RunAbout, run_id: str | None = None) -> str:
        """Open a run, so that it is seen as running, and return its id.

        A known run is continued. A new one is opened when MLflow no longer has it, or when its
        params differ, which MLflow cannot change.

        Raises:
            CotuneError: MLflow cannot be used.
        """
        try:
            client = self._client()
            known = None if run_id is None else _continued(client, run_id, params_of(about))
            return known or self._open(client, about)
        except Exception as error:  # whatever the backend raises, a person gets one message
            raise CotuneError(
                f"MLflow at {public(self.uri)} cannot be used: {public(_first_line(error))}. "
                "Check 'tracking.uri' and that its server runs or its folder can be written, or "
                "repeat the command with --no-mlflow."
            ) from error

    def log(self, record: RunRecord, report: str, run_id: str) -> bool:
        """Write a finished run; writing it again changes nothing.

        Returns:
            Whether it was written. A failure is logged as a warning.
        """
        with self._or_warn():
            client = self._client()
            _write_metrics(client, run_id, metrics_of(record))
            _write_artifacts(client, run_id, artifacts_of(record, report))
            registered = register_winner(client, record, run_id, sentence(record))
            _write_tags(client, run_id, end_tags(record, registered))
            client.set_terminated(run_id, "FINISHED")
            return True
        return False

    def pause(self, run_id: str, reason: str) -> None:
        """Mark a run as stopped before its end, by a person or by too many faults."""
        self._stop(run_id, "KILLED", "paused", reason)

    def fail(self, run_id: str, reason: str) -> None:
        """Mark a run as failed."""
        self._stop(run_id, "FAILED", "failed", reason)

    def _stop(self, run_id: str, status: str, state: str, reason: str) -> None:
        with self._or_warn():
            client = self._client()
            client.set_tag(run_id, "cotune.state", f"{state}: {public(reason)}")
            client.set_terminated(run_id, status)

    def _open(self, client: MlflowClient, about: RunAbout) -> str:
        experiment = client.get_experiment_by_name(self.experiment)
        experiment_id = (
            experiment.experiment_id
            if experiment is not None
            else client.create_experiment(self.experiment, self._artifact_location())
        )
        run = client.create_run(experiment_id, tags=begin_tags(about), run_name=about.name)
        run_id: str = run.info.run_id
        for key, value in params_of(about).items():
            client.log_param(run_id, key, value)
        _write_artifacts(client, run_id, {"config.yaml": config_yaml(about.config)})
        return run_id

    def _artifact_location(self) -> str | None:
        """Keep artifacts beside the database file; a server decides for itself."""
        path = _sqlite_path(self.uri)
        if path is None:
            return None
        folder = re.sub(r"[^\w.-]+", "-", self.experiment)
        return (path.absolute().parent / "mlartifacts" / folder).as_uri()

    def _client(self) -> MlflowClient:
        """Import MLflow, quietly, and connect.

        Raises:
            OSError, sqlite3.Error: The database file cannot be written.
        """
        path = _sqlite_path(self.uri)
        if path is not None:
            _require_writable(path)  # MLflow would try for two minutes
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        import mlflow  # noqa: PLC0415  (two seconds)

        for noisy in ("mlflow", "alembic"):
            logging.getLogger(noisy).setLevel(logging.ERROR)
        mlflow.set_tracking_uri(self.uri)
        return mlflow.MlflowClient()

    @contextmanager
    def _or_warn(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the run is paid for: MLflow must not make it fail
            _log.warning(
                "The run was not written to MLflow at %s: %s. Nothing is lost: the run's folder "
                "holds everything, and the same command writes it again.",
                public(self.uri),
                public(_first_line(error)),
            )


def _continued(client: MlflowClient, run_id: str, params: Mapping[str, str]) -> str | None:
    """Set a known run running again and return its id, or None when a new one is needed."""
    run = _find(client, run_id)
    if run is None:
        return None
    if run.data.params != params:
        if run.info.status == "RUNNING":
            client.set_terminated(run_id, "KILLED")
        return None
    client.update_run(run_id, status="RUNNING")
    client.set_tag(run_id, "cotune.state", "running")
    return run_id


def _find(client: MlflowClient, run_id: str) -> Run | None:
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  (imported already)

    try:
        run = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":
            return None
        raise
    return run if run.info.lifecycle_stage == "active" else None


def _write_metrics(client: MlflowClient, run_id: str, points: Iterable[Point]) -> None:
    """Write the points that the run does not have yet."""
    latest = client.get_run(run_id).data.metrics
    written = {
        (name, point.step, point.value)
        for name in latest
        for point in client.get_metric_history(run_id, name)
    }
    now = int(time.time() * 1000)
    for name, value, step in points:
        if (name, step, value) not in written:
            client.log_metric(run_id, name, value, timestamp=now, step=step)


def _write_artifacts(client: MlflowClient, run_id: str, texts: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        client.log_artifacts(run_id, folder)


def _write_tags(client: MlflowClient, run_id: str, tags: Mapping[str, str]) -> None:
    for name, value in tags.items():
        client.set_tag(run_id, name, value)


def _sqlite_path(uri: str) -> Path | None:
    return Path(uri.removeprefix(_SQLITE).partition("?")[0]) if uri.startswith(_SQLITE) else None


def _require_writable(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=5)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
