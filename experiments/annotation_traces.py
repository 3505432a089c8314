"""Conversations as traces to be annotated: a session each, a trace each turn.

A turn's trace shows the conversation up to it, so the last one shows all of it, and holds the whole
record. What was sent is known from MLflow itself: each trace names the conversation's content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..simulation.importers.mlflow_traces import SESSION
from ..simulation.trajectory import Trajectory
from ..simulation.trajectory_json import trajectory_from_json, trajectory_to_json
from .annotation_choice import Candidate
from .state_changes import state_changes
from .traces import write_call

if TYPE_CHECKING:
    from mlflow.entities import LiveSpan, Trace, TraceInfo

_CONTENT, _TURN = "cotune.conversation", "cotune.turn"
_RECORD = "cotune.trajectory"
_SHOWN = 1000  # characters that MLflow has room for
_SPEAKERS = {"user": "Customer", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class SentConversations:
    """What an experiment holds already.

    Attributes:
        traces: The ids of a conversation's traces by turn, by its content; see `content_of`.
        sessions: The content of each session.
    """

    traces: dict[str, dict[int, str]] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def among(cls, infos: Iterable[TraceInfo]) -> SentConversations:
        """Find them among the traces of an experiment."""
        sent = cls()
        for info in infos:
            metadata = info.trace_metadata
            if _CONTENT in metadata:
                content = metadata[_CONTENT]
                sent.traces.setdefault(content, {})[int(metadata[_TURN])] = info.trace_id
                sent.sessions[metadata.get(SESSION, "")] = content
        return sent

    def of(self, name: str, trajectory: Trajectory) -> list[str]:
        """Return the ids of a conversation's traces, the first turn's first; as far as it is there.

        Raises:
            UsageError: The experiment holds another conversation of this name.
        """
        content = content_of(name, trajectory)
        if self.sessions.get(name, content) != content:
            raise UsageError(
                f"The experiment holds another conversation '{name}', with other turns. Name "
                "another one with --experiment, so that answers are about one conversation."
            )
        there = self.traces.get(content, {})
        return [there[turn] for turn in range(len(there)) if turn in there]


def content_of(name: str, trajectory: Trajectory) -> str:
    """Return a short hash of what a person sees of a conversation, and of its name."""
    said = [[turn.message, turn.reply.text] for turn in trajectory.turns]
    return fingerprint([name, said], 32)


def write_turns(experiment_id: str, each: Candidate, there: Sequence[str]) -> list[str]:
    """Write the turns of a conversation that are not there yet.

    Args:
        experiment_id: Where to.
        each: The conversation.
        there: The ids of the traces of its first turns.

    Returns:
        The ids of all its traces, the first turn's first.
    """
    turns = range(len(there), len(each.trajectory.turns))
    return [*there, *(_write_turn(experiment_id, each, turn) for turn in turns)]


def restored(session: Sequence[Trace]) -> Trajectory | None:
    """Return the conversation that was sent as these traces; None when they are another's."""
    for trace in session:
        for span in trace.data.spans:
            if (record := span.attributes.get(_RECORD)) is not None:
                return trajectory_from_json(record)
    return None


def with_traces(trajectory: Trajectory, traces: Sequence[str]) -> Trajectory:
    """Return a conversation that is known by the traces it was sent as, too."""
    return replace(trajectory, metadata={**trajectory.metadata, "traces": list(traces)})


def _write_turn(experiment_id: str, each: Candidate, number: int) -> str:
    import mlflow  # noqa: PLC0415  (imported already)
    from mlflow.entities.trace_location import MlflowExperimentLocation  # noqa: PLC0415

    trajectory, turn = each.trajectory, each.trajectory.turns[number]
    with mlflow.start_span(
        f"{trajectory.scenario}, turn {number + 1} of {len(trajectory.turns)}",
        span_type="CHAIN",
        trace_destination=MlflowExperimentLocation(experiment_id),
    ) as root:
        root.set_inputs({"messages": list(_messages(trajectory, number))})
        mlflow.update_current_trace(
            session_id=each.name,
            metadata={_CONTENT: content_of(each.name, trajectory), _TURN: str(number)},
            tags={"cotune.scenario": trajectory.scenario, "cotune.family": each.family},
            request_preview=_preview(trajectory, number),
        )
        if number == len(trajectory.turns) - 1:
            root.set_attribute(_RECORD, _record(trajectory))
        for call in turn.reply.calls:
            write_call(root, call)
        before = trajectory.turns[number - 1].state if number else trajectory.initial_state
        _write_changes(root, before, turn.state)
        root.set_outputs({"choices": [{"message": _message("assistant", turn.reply.text)}]})
    return root.trace_id


def _preview(trajectory: Trajectory, number: int) -> str:
    """Return what the review page shows above the reply: all that was said, where it fits.

    Left to itself it shows the last message alone, and people would judge a whole by its end.
    """
    said = list(_messages(trajectory, number))
    if not number:
        return said[-1]["content"][:_SHOWN]
    whole = "\n\n".join(f"{_SPEAKERS[each['role']]}: {each['content']}" for each in said)
    if len(whole) <= _SHOWN:
        return whole
    notice = f"There are {number} turns before this one: read them under *View full trace*."
    return f"{notice}\n\n{said[-1]['content']}"[:_SHOWN]


def _messages(trajectory: Trajectory, number: int) -> Iterator[dict[str, str]]:
    """Yield what was said up to the customer's message of a turn."""
    for turn in trajectory.turns[:number]:
        yield _message("user", turn.message)
        yield _message("assistant", turn.reply.text)
    yield _message("user", trajectory.turns[number].message)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _record(trajectory: Trajectory) -> dict[str, Any]:
    """Return the whole as JSON, but for why the customer said it, which nobody judges by."""
    turns = tuple(replace(turn, notes={}) for turn in trajectory.turns)
    return trajectory_to_json(replace(trajectory, turns=turns))


def _write_changes(root: LiveSpan, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    import mlflow  # noqa: PLC0415  (imported already)

    if changes := [f"{name}: {change}" for name, change in state_changes(before, after)]:
        mlflow.start_span_no_context("what changed", parent_span=root).end(outputs=changes)
