"""Reaching MLflow: imported late, quietly, and only where a server or a file is there."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents.mlflow_address import (
    first_line,
    is_remote,
    require_answering,
    require_mlflows,
    sqlite_path,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient

__all__ = ["artifacts_beside", "connected", "first_line", "is_remote", "sqlite_path"]

_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",  # a trace is there when its verdicts are written
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # its defaults wait for minutes on a dead server
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}


def connected(uri: str) -> MlflowClient:
    """Import MLflow, quietly, and connect.

    Raises:
        OSError, sqlite3.Error: The server does not answer, or the database file cannot be written
            or is another program's.
    """
    path = sqlite_path(uri)
    if path is not None:
        _require_usable(path)  # MLflow would try for two minutes
    elif is_remote(uri):
        require_answering(uri)
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow  # noqa: PLC0415  (two seconds)

    for noisy in ("mlflow", "alembic"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    mlflow.set_tracking_uri(uri)
    return mlflow.MlflowClient()


def artifacts_beside(uri: str, experiment: str) -> str | None:
    """Keep an experiment's artifacts beside the database file; a server decides for itself."""
    path = sqlite_path(uri)
    if path is None:
        return None
    folder = re.sub(r"[^\w.-]+", "-", experiment)
    return (path.absolute().parent / "mlartifacts" / folder).as_uri()


def _require_usable(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=5)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")
    require_mlflows(path)
