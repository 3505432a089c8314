"""MLflow: what people said of traces, as feedback or as an expectation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...simulation.importers.mlflow_traces import SESSION, Marked, marked_traces
from .format import Format
from .label import Label, Labels, labels_of

if TYPE_CHECKING:
    from mlflow.entities import Assessment

_TRACE = "trace"
_HUMAN = "HUMAN"
