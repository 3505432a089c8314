"""Where people annotate: an experiment of an MLflow server or database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError, UsageError
from ..agents.redact import public
from ..simulation.importers.mlflow_traces import trace_infos
from .annotation_traces import SentConversations
from .mlflow_access import artifacts_beside, connected, first_line, is_remote, sqlite_path

if TYPE_CHECKING:
    from mlflow import MlflowClient

DEFAULT_EXPERIMENT = "cotune-annotations"


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """An experiment in which conversations are annotated.

    Attributes:
        uri: Tracking URI.
        experiment: Its name.
    """

    uri: str
    experiment: str

    @contextmanager
    def opened(self) -> Iterator[str]:
        """Connect, and give the experiment's id; it is created when it does not exist.

        Raises:
            CotuneError: MLflow cannot be used.
        """
        with self._reached() as client:
            found = client.get_experiment_by_name(self.experiment)
            beside = artifacts_beside(self.uri, self.experiment)
            yield (
                found.experiment_id
                if found is not None
                else client.create_experiment(self.experiment, beside)
            )

    def require(self) -> None:
        """Connect to what must be there.

        Raises:
            UsageError: There is no such database.
            CotuneError: MLflow cannot be used.
        """
        database = sqlite_path(self.uri)
        if database is not None and not database.is_file():
            raise UsageError(
                f"There is no MLflow database {database}. Give the --mlflow that `cotune annotate` "
                "was given."
            )
        with self._reached():
            pass

    def sent(self) -> SentConversations:
        """Return what was sent there; MLflow is connected.

        Raises:
            CotuneError: MLflow cannot be used.
        """
        return SentConversations.among(trace_infos(self.experiment))

    @property
    def start(self) -> str:
        """What to type to see it; empty where a server runs already."""
        return "" if is_remote(self.uri) else f"mlflow server --backend-store-uri {self.uri}"

    def page(self, experiment_id: str) -> str:
        """Return the address of its review queues."""
        server = public(self.uri).rstrip("/") if is_remote(self.uri) else "http://localhost:5000"
        return f"{server}/#/experiments/{experiment_id}/review-queue"

    @contextmanager
    def _reached(self) -> Iterator[MlflowClient]:
        """Give a person one message, whatever MLflow and its backends raise."""
        try:
            yield connected(self.uri)
        except CotuneError:
            raise
        except Exception as error:
            raise CotuneError(
                f"MLflow at {public(self.uri)} cannot be used: {public(first_line(error))}. Check "
                "--mlflow and repeat the command; what was sent is not sent again."
            ) from error
