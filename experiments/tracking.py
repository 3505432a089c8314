"""Tracking: one MLflow run per optimization, with a child run for each of its stages.

MLflow is slow to import and to call, so it is written before and after a run, and during it only
from a thread of its own (`live_metrics.py`). The run's folder holds everything MLflow is told; when
MLflow fails, a warning says so, nothing is lost, and `cotune runs sync` writes it later.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError, UsageError
from ..agents.redact import public
from .conclusion import sentence
from .contrast import Contrast
from .mlflow_access import artifacts_beside, connected, first_line, is_remote
from .prompt_registry import register_winner
from .run_record import RunRecord, config_yaml
from .stage_runs import end_stages, write_points, write_stages
from .traces import write_traces
from .tracked_stages import stage_points
from .tracked_values import About, artifacts_of, begin_tags, end_tags, metrics_of, params_of

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

DEFAULT_URI = "sqlite:///mlflow.db"
_REDACTED = "…"
_MOST = 100  # in one call, says MLflow
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

    @classmethod
    def of(cls, record: RunRecord, uri: str | None = None) -> Tracker:
        """Return where a finished run is tracked, or another MLflow's `uri`.

        Raises:
            UsageError: The address had a password, which is not kept.
        """
        tracking = record.config["tracking"]
        found = uri or tracking["uri"]
        if _REDACTED in found:
            raise UsageError(
                f"The run {record.name} was tracked at {found}, whose password is not kept. Give "
                "the whole address with --uri."
            )
        return cls(found, tracking["experiment"])

    @property
    def is_remote(self) -> bool:
        """Whether it is a server, which may be out of reach for a while."""
        return is_remote(self.uri)

    def check(self) -> None:
        """Look whether MLflow can be used.

        Raises:
            CotuneError: It cannot.
        """
        try:
            connected(self.uri).search_experiments(max_results=1)
        except Exception as error:  # whatever the backend raises, a person gets one message
            raise self._unusable(error) from error

    def begin(self, about: About, run_id: str | None = None) -> str:
        """Open a run, so that it is seen as running, and return its id.

        A known run is continued. A new one is opened when MLflow no longer has it, or when its
        params differ, which MLflow cannot change.

        Raises:
            CotuneError: MLflow cannot be used.
        """
        try:
            client = connected(self.uri)
            known = None if run_id is None else _continued(client, run_id, params_of(about))
            return known or self._open(client, about)
        except Exception as error:  # whatever the backend raises, a person gets one message
            raise self._unusable(error) from error

    def log(
        self, record: RunRecord, report: str, run_id: str, contrasts: Sequence[Contrast] = ()
    ) -> bool:
        """Write a finished run; writing it again changes nothing.

        Args:
            record: The run.
            report: Its page.
            run_id: The MLflow run that was begun for it.
            contrasts: The conversations of its test that changed most.

        Returns:
            Whether it was written. A failure is logged as a warning.
        """
        with self._or_warn(record.name):
            client = connected(self.uri)
            write_points(client, run_id, metrics_of(record))
            _write_artifacts(client, run_id, artifacts_of(record, report))
            write_stages(client, run_id, stage_points(record))
            write_traces(client, record, run_id, contrasts)
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

    def _unusable(self, error: Exception) -> CotuneError:
        return CotuneError(
            f"MLflow at {public(self.uri)} cannot be used: {public(first_line(error))}. "
            "Check 'tracking.uri' and that its server runs or its folder can be written, or "
            "repeat the command with --no-mlflow."
        )

    def _stop(self, run_id: str, status: str, state: str, reason: str) -> None:
        with self._or_warn(""):
            client = connected(self.uri)
            end_stages(client, run_id, status)
            client.set_tag(run_id, "cotune.state", f"{state}: {public(reason)}")
            client.set_terminated(run_id, status)

    def _open(self, client: MlflowClient, about: About) -> str:
        experiment = client.get_experiment_by_name(self.experiment)
        experiment_id = (
            experiment.experiment_id
            if experiment is not None
            else client.create_experiment(
                self.experiment, artifacts_beside(self.uri, self.experiment)
            )
        )
        run = client.create_run(experiment_id, tags=begin_tags(about), run_name=about.name)
        run_id: str = run.info.run_id
        _write_params(client, run_id, params_of(about))
        _write_artifacts(client, run_id, {"config.yaml": config_yaml(about.config)})
        return run_id

    @contextmanager
    def _or_warn(self, run: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the run is paid for: MLflow must not make it fail
            later = (
                f"`cotune runs sync {run}` writes it later." if run else "A resumed run goes on."
            )
            _log.warning(
                "The run was not written to MLflow at %s: %s. Nothing is lost: the run's folder "
                "holds everything. %s",
                public(self.uri),
                public(first_line(error)),
                later,
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


def _write_params(client: MlflowClient, run_id: str, params: Mapping[str, str]) -> None:
    from mlflow.entities import Param  # noqa: PLC0415  (imported already)

    found = [Param(key, value) for key, value in params.items()]
    for start in range(0, len(found), _MOST):
        client.log_batch(run_id, params=found[start : start + _MOST])


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
