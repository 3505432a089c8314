"""MLflow: what people said of traces, as feedback or as an expectation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...simulation.importers.importer import MalformedError
from ...simulation.importers.mlflow_traces import SESSION, trace_infos
from .format import Format
from .label import Label, Labels, labels_of

if TYPE_CHECKING:
    from mlflow.entities import Assessment, TraceInfo

_UNIT = "assessment"
_HUMAN = "HUMAN"
_MILLISECONDS = 1000


def read_mlflow(source: str, form: Format) -> Labels:
    """Yield what people said of the traces of a tracking server or an experiment.

    An assessment's name is the criterion. One whose metadata name a session is about the whole
    conversation, any other about the turn that the trace is. What was taken back or is by a model
    is left out. Assessments are numbered as they are found, the oldest trace first.

    Args:
        source: A tracking URI or the name of an experiment; see `mlflow_traces.read`.
        form: What names and values mean there.

    Raises:
        UsageError: There is no such source.
        CotuneError: MLflow cannot be used.
    """
    said = (
        (info, assessment)
        for info in trace_infos(source)
        for assessment in info.assessments or ()
        if assessment.source.source_type == _HUMAN and assessment.valid is not False
    )
    return labels_of(_UNIT, enumerate(said, start=1), lambda at, each: _labels(at, *each, form))


def _labels(number: int, info: TraceInfo, said: Assessment, form: Format) -> Iterator[Label]:
    session = (said.metadata or {}).get(SESSION)
    annotator = said.source.source_id or form.annotator
    if not annotator:
        raise MalformedError(f"'{said.name}' on {info.trace_id} does not say who said it")
    time = said.last_update_time_ms or said.create_time_ms
    yield Label(
        unit=_UNIT,
        number=number,
        conversation=session or info.trace_id,
        criterion=said.name,
        annotator=annotator,
        value=_value(said, info.trace_id),
        rationale=said.rationale or "",
        time=None if time is None else datetime.fromtimestamp(time / _MILLISECONDS, UTC),
    )


def _value(said: Assessment, trace: str) -> object:
    if said.feedback is not None:
        return said.feedback.value
    if said.expectation is not None:
        return said.expectation.value
    raise MalformedError(f"'{said.name}' on {trace} is neither feedback nor an expectation")
