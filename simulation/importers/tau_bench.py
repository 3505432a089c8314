"""tau-bench: results of its airline and retail runs, one JSON array of scored chats in a file.

Format: https://github.com/sierra-research/tau-bench. A record is one trial of one task; it has the
chat as `traj`, the outcome as `reward`, and the task with its expected actions in `info`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ...agents.errors import UsageError
from ...agents.text_file import read_text
from ..trajectory import StopReason, Trajectory
from .chat_message import ChatMessage
from .chat_turns import trajectory_of
from .importer import Imported, Names, Refused, decode, read_each, validated
from .json_array import elements

_HAND_OVER = "transfer_to_human_agents"  # the tool that ends an episode


class _Logged(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Task(_Logged):
    instruction: str = ""
    actions: tuple[dict[str, Any], ...] = ()
    outputs: tuple[Any, ...] = ()


class _Info(_Logged):
    task: _Task = _Task()


class _Record(_Logged):
    task_id: int
    trial: int = 0
    reward: float = Field(allow_inf_nan=False)
    traj: tuple[ChatMessage, ...]
    info: _Info = _Info()


def read(source: str) -> Imported:
    """Read the file at a path.

    The array is read whole; its records are decoded one by one, so that a file which breaks off
    loses its last record only.

    Raises:
        UsageError: The file cannot be read or does not hold a JSON array.
    """
    text = read_text(Path(source), "tau-bench results").strip()
    if not text.startswith("["):
        raise UsageError(
            f"{source} does not hold a JSON array of tau-bench results. Give the file that a "
            "tau-bench run writes; for one chat per line use the format 'chat'."
        )
    return Imported(_records(text))


def _records(text: str) -> Iterator[Trajectory | Refused]:
    names = Names()

    def trajectory(element: str, number: int) -> Trajectory:
        record = validated(_Record, decode(element))
        read = _trajectory(record)
        names.take(f"trial {record.trial} of task {record.task_id}", number)
        return read

    return read_each("record", enumerate(elements(text), start=1), trajectory)


def _trajectory(record: _Record) -> Trajectory:
    task = record.info.task
    metadata = {
        "source": "tau-bench",
        "task_id": record.task_id,
        "trial": record.trial,
        "reward": record.reward,
        "goal": task.instruction,
        "expected_actions": list(task.actions),
        "expected_outputs": list(task.outputs),
    }
    messages = map(_with_text_unsaid, record.traj)
    return trajectory_of(f"task-{record.task_id}", messages, metadata, _stop(record.traj))


def _with_text_unsaid(message: ChatMessage) -> ChatMessage:
    """tau-bench runs the tool and never shows the customer what the model wrote beside it."""
    if not message.tool_calls or not message.text:
        return message
    return message.model_copy(update={"content": None, "reasoning_content": message.text})


def _stop(messages: tuple[ChatMessage, ...]) -> StopReason:
    """Return why an episode ended that the customer did not end."""
    called = [call.function.name for message in messages for call in message.tool_calls or ()]
    if messages and messages[-1].role == "tool" and called[-1:] == [_HAND_OVER]:
        return StopReason.OUT_OF_SCOPE
    return StopReason.TURN_LIMIT  # the only other end is the cap on steps
