"""Trajectories as JSON: the form in which they are journaled, written to files and exchanged.

One trajectory is one object:

    {"version": 1, "scenario": "milk-1", "initial_state": {…}, "stop": "satisfied",
     "turns": [{"message": "…", "notes": {…}, "state": {…}, "reply": {"text": "…", "calls": [
         {"call": "agent", "agent": "router", "inputs": {…}, "outputs": {…}},
         {"call": "tool", "tool": "search", "agent": "finder", "arguments": {…}, "result": …,
          "error": ""}]}}],
     "fault": null or {"origin": "provider", "kind": "rate_limit", "message": "…"},
     "metadata": {…}}

What each field means is said where the `Trajectory` is defined. `notes`, `error`, `fault` and
`metadata` may be left out. A form that old readers would misread gets another version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..agents.assistant import AgentCall, Reply, ToolCall
from ..agents.errors import Fault, FaultOrigin, UsageError
from ..agents.form_version import of_version
from ..agents.problem import problems_of
from .trajectory import StopReason, Trajectory, Turn

VERSION = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentCallRecord(_Record):
    """An `AgentCall`."""

    call: Literal["agent"]
    agent: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]

    def restored(self) -> AgentCall:
        """Return the call."""
        return AgentCall(self.agent, self.inputs, self.outputs)


class ToolCallRecord(_Record):
    """A `ToolCall`."""

    call: Literal["tool"]
    tool: str
    agent: str
    arguments: dict[str, Any]
    result: Any
    error: str = ""

    def restored(self) -> ToolCall:
        """Return the call."""
        return ToolCall(self.tool, self.agent, self.arguments, self.result, self.error)


class ReplyRecord(_Record):
    """A `Reply`."""

    text: str
    calls: list[Annotated[AgentCallRecord | ToolCallRecord, Field(discriminator="call")]]


class TurnRecord(_Record):
    """A `Turn`."""

    message: str
    reply: ReplyRecord
    state: dict[str, Any]
    notes: dict[str, Any] = Field(default_factory=dict)

    def restored(self) -> Turn:
        """Return the turn."""
        calls = tuple(call.restored() for call in self.reply.calls)
        return Turn(self.message, Reply(self.reply.text, calls), self.state, self.notes)


class FaultRecord(_Record):
    """A `Fault`."""

    origin: FaultOrigin
    kind: str
    message: str

    def restored(self) -> Fault:
        """Return the fault."""
        return Fault(self.origin, self.kind, self.message)


class TrajectoryRecord(_Record):
    """A `Trajectory` with the version of its form."""

    version: Annotated[int, of_version(VERSION)]
    scenario: str
    initial_state: dict[str, Any]
    turns: list[TurnRecord]
    stop: StopReason
    fault: FaultRecord | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    def restored(self) -> Trajectory:
        """Return the trajectory."""
        return Trajectory(
            self.scenario,
            tuple(turn.restored() for turn in self.turns),
            self.initial_state,
            self.stop,
            self.fault and self.fault.restored(),
            self.metadata,
        )


def trajectory_to_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return a trajectory as JSON values; `trajectory_from_json` gives an equal one back."""
    return {
        "version": VERSION,
        "scenario": trajectory.scenario,
        "initial_state": dict(trajectory.initial_state),
        "turns": [_turn_to_json(turn) for turn in trajectory.turns],
        "stop": str(trajectory.stop),
        "fault": trajectory.fault and fault_to_json(trajectory.fault),
        "metadata": dict(trajectory.metadata),
    }


def trajectory_from_json(value: Mapping[str, Any]) -> Trajectory:
    """Read back what `trajectory_to_json` returned.

    Raises:
        UsageError: It is no trajectory, or one of a version this cotune does not know.
    """
    try:
        return TrajectoryRecord.model_validate(value).restored()
    except ValidationError as error:
        place, said = next(problems_of(error, TrajectoryRecord))
        field = ".".join(str(part) for part in place) or "the whole"
        raise UsageError(f"This is no trajectory: {field}: {said}.") from error


def fault_to_json(fault: Fault) -> dict[str, str]:
    """Return a fault as JSON values."""
    return {"origin": str(fault.origin), "kind": fault.kind, "message": fault.message}


def fault_from_json(value: Mapping[str, Any]) -> Fault:
    """Read back what `fault_to_json` returned."""
    return Fault(FaultOrigin(value["origin"]), value["kind"], value["message"])


def _turn_to_json(turn: Turn) -> dict[str, Any]:
    calls = [_call_to_json(call) for call in turn.reply.calls]
    return {
        "message": turn.message,
        "reply": {"text": turn.reply.text, "calls": calls},
        "state": dict(turn.state),
        "notes": dict(turn.notes),
    }


def _call_to_json(call: AgentCall | ToolCall) -> dict[str, Any]:
    if isinstance(call, AgentCall):
        return {
            "call": "agent",
            "agent": call.agent,
            "inputs": dict(call.inputs),
            "outputs": dict(call.outputs),
        }
    return {
        "call": "tool",
        "tool": call.tool,
        "agent": call.agent,
        "arguments": dict(call.arguments),
        "result": call.result,
        "error": call.error,
    }
