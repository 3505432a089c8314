"""MLflow traces: the traces of a session are the turns of one conversation.

A trace's session is its metadata `mlflow.trace.session`; a trace without one is a conversation of
one turn. The root span's inputs and outputs are what customer and assistant said.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...agents.assistant import AgentCall, Reply
from ...agents.errors import CotuneError, Fault, FaultOrigin, UsageError
from ...agents.redact import public, without_keys
from ..trajectory import StopReason, Trajectory, Turn
from .importer import Imported, MalformedError, Refused, read_each
from .span_calls import calls_of, error_of
from .spoken_text import answered, asked

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Span, Trace, TraceInfo
    from mlflow.store.entities import PagedList

_Item = TypeVar("_Item")

SESSION = "mlflow.trace.session"
"""Where a trace, or an assessment of all of them, says to which session it belongs."""

_SQLITE = "sqlite:///"
_PAGE = 200
_OF_THE_TRACE = ("BAD_REQUEST", "NOT_FOUND", "RESOURCE_DOES_NOT_EXIST", "INVALID_STATE")
_ENVIRONMENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2"}


def read(source: str) -> Imported:
    """Read the sessions of a tracking server or of one experiment, the oldest session first.

    First the traces are listed without their spans; then each session is fetched when it is
    taken, so that only one is in memory.

    Args:
        source: A tracking URI, such as `sqlite:///mlflow.db`, for all experiments in it; or the
            name of an experiment on the tracking server that MLflow is set up with
            (`MLFLOW_TRACKING_URI`).

    Raises:
        UsageError: There is no such experiment or database file.
        CotuneError: MLflow cannot be used.
    """
    with _mlflow_errors(source):
        client, experiments = _open(source)
        sessions = _sessions(client, experiments)
    return Imported(_records(client, source, sessions))


def trace_infos(source: str) -> list[TraceInfo]:
    """Return what is known of every trace but its spans, the oldest first; see `read`.

    Raises:
        UsageError: There is no such experiment or database file.
        CotuneError: MLflow cannot be used.
    """
    with _mlflow_errors(source):
        client, experiments = _open(source)
        return list(_listed(client, experiments))


def _open(source: str) -> tuple[MlflowClient, list[str]]:
    """Return a client and the ids of the experiments to read."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow  # noqa: PLC0415  (two seconds)

    is_uri = "://" in source
    uri = source if is_uri else mlflow.get_tracking_uri()
    database = Path(uri.removeprefix(_SQLITE))
    if uri.startswith(_SQLITE) and not database.is_file():  # MLflow would create it
        raise UsageError(
            f"There is no MLflow database {database}. Give the tracking URI of an existing one, or "
            "set MLFLOW_TRACKING_URI and give the name of an experiment."
        )
    client = mlflow.MlflowClient(tracking_uri=uri)
    if is_uri:
        found = _all(lambda token: client.search_experiments(page_token=token))
        return client, [experiment.experiment_id for experiment in found]
    experiment = client.get_experiment_by_name(source)
    if experiment is None:
        raise UsageError(
            f"MLflow at {public(uri)} has no experiment '{source}'. Check the name, and that "
            "MLFLOW_TRACKING_URI leads to the server that has it."
        )
    return client, [experiment.experiment_id]


@dataclass(frozen=True, slots=True)
class _Session:
    """The id of a session, that of the trace where it has none, and the ids of its traces."""

    name: str
    traces: list[str] = field(default_factory=list)


def _sessions(client: MlflowClient, experiments: list[str]) -> list[_Session]:
    """Return the sessions; one that is in two experiments counts as two."""
    sessions: dict[tuple[str | None, str], _Session] = {}
    for info in _listed(client, experiments):
        name = info.trace_metadata.get(SESSION, info.trace_id)
        sessions.setdefault((info.experiment_id, name), _Session(name)).traces.append(info.trace_id)
    return list(sessions.values())


def _listed(client: MlflowClient, experiments: list[str]) -> Iterator[TraceInfo]:
    listed = _all(
        lambda token: client.search_traces(
            locations=experiments,
            include_spans=False,
            order_by=["timestamp_ms ASC"],
            max_results=_PAGE,
            page_token=token,
        )
    )
    return (trace.info for trace in listed)


def _records(
    client: MlflowClient, source: str, sessions: Sequence[_Session]
) -> Iterator[Trajectory | Refused]:
    def trajectory(session: _Session, number: int) -> Trajectory:
        try:
            with _mlflow_errors(source):
                traces = [_fetched(client, id_) for id_ in session.traces]
            return trajectory_of(session.name, traces)
        except MalformedError as error:
            raise MalformedError(f"'{session.name}': {error}") from error

    return read_each("session", enumerate(sessions, start=1), trajectory)


def _fetched(client: MlflowClient, trace_id: str) -> Trace:
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  (imported already)

    try:
        return client.get_trace(trace_id, display=False)
    except MlflowException as error:
        if error.error_code not in _OF_THE_TRACE:
            raise
        raise MalformedError(f"the trace {trace_id} is not whole: {_first_line(error)}") from error


def trajectory_of(session: str, traces: Sequence[Trace]) -> Trajectory:
    """Return the conversation that the traces of a session are; at least one.

    Raises:
        MalformedError: They are none.
    """
    traces = sorted(traces, key=lambda trace: _root(trace).start_time_ns)
    turns = [_turn(trace) for trace in traces]
    metadata: dict[str, Any] = {
        "source": "mlflow",
        "traces": [trace.info.trace_id for trace in traces],
    }
    fault = None if turns[-1].reply.text else _fault(_root(traces[-1]))
    if fault:
        metadata["unanswered"] = turns.pop().message
    metadata["missing"] = list(_missing(turns, fault))
    stop = StopReason.FAULT if fault else StopReason.OPEN
    return Trajectory(session, tuple(turns), {}, stop, fault, metadata)


def _missing(turns: Sequence[Turn], fault: Fault | None) -> Iterator[str]:
    calls = [call for turn in turns for call in turn.reply.calls]
    yield "state"
    if not any(isinstance(call, AgentCall) for call in calls):
        yield "agents"
    if not all(turn.reply.text for turn in turns):
        yield "reply"
    if fault is None:
        yield "stop"


def _turn(trace: Trace) -> Turn:
    root = _root(trace)
    message = asked(root.inputs)
    if not message:
        raise MalformedError(
            f"the trace {trace.info.trace_id} has no customer message in the inputs of its root "
            f"span '{root.name}'"
        )
    reply = Reply(answered(root.outputs), tuple(calls_of(trace.data.spans)))
    return Turn(message, reply, {})


def _root(trace: Trace) -> Span:
    for span in trace.data.spans:
        if span.parent_id is None:
            return span
    raise MalformedError(f"the trace {trace.info.trace_id} has no root span")


def _fault(root: Span) -> Fault | None:
    """Return why the assistant gave no reply: whose fault it was, a trace does not say."""
    said = error_of(root)
    if not said:
        return None
    return Fault(FaultOrigin.INFRASTRUCTURE, "trace_error", without_keys(public(said)))


def _all(page: Callable[[str | None], PagedList[_Item]]) -> Iterator[_Item]:
    """Yield the items of every page."""
    token: str | None = None
    while True:
        found = page(token)
        yield from found
        token = found.token
        if not token:
            return


@contextmanager
def _mlflow_errors(source: str) -> Iterator[None]:
    """Give a person one message, whatever MLflow and its backends raise."""
    try:
        yield
    except (CotuneError, MalformedError):
        raise
    except Exception as error:
        raise CotuneError(
            f"The traces of '{public(source)}' cannot be read from MLflow: "
            f"{public(_first_line(error))}. Check that the server runs and that the tracking URI "
            "is right."
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
