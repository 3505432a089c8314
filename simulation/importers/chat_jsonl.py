"""Chat JSONL: one conversation a line, in the messages of OpenAI's chat API.

A line is `{"messages": [...]}`, optionally with `id` and `metadata`. A `reward` in `metadata` is
taken for the conversation's score.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from ...agents.errors import UsageError
from ..trajectory import Trajectory
from .chat_message import ChatMessage
from .chat_turns import trajectory_of
from .importer import Imported, MalformedError, Names, Refused, decode, read_each, validated

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one conversation; a longer line is refused without being held in memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1024 * 1024


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str | int | None = None
    messages: tuple[ChatMessage, ...] = Field(min_length=1)
    metadata: dict[str, Any] = Field(default_factory=dict)


def read(source: str) -> Imported:
    """Read the file at a path, a line at a time.

    Raises:
        UsageError: There is no such file.
    """
    path = Path(source)
    if not path.is_file():
        raise UsageError(f"Cannot read the chat log {source}: there is no such file.")
    return Imported(_records(path))


def _records(path: Path) -> Iterator[Trajectory | Refused]:
    names = Names()

    def trajectory(line: bytes | None, number: int) -> Trajectory:
        read = _trajectory(line, number)
        names.take(f"the id '{read.scenario}'", number)
        return read

    with path.open("rb") as file:
        yield from read_each("line", _lines(file), trajectory)


def _trajectory(line: bytes | None, number: int) -> Trajectory:
    if line is None:
        raise MalformedError(f"it is longer than {LONGEST_LINE} bytes")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise MalformedError(f"it is not UTF-8 ({error})") from error
    record = validated(_Record, decode(text))
    scenario = f"line-{number}" if record.id is None else str(record.id)
    return trajectory_of(scenario, record.messages, {**record.metadata, "source": "chat"})


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that are not blank with their numbers, None for each that is too long."""
    line = file.readline(LONGEST_LINE + 1).removeprefix(_BYTE_ORDER_MARK)
    for number in itertools.count(1):
        if not line:
            return
        if len(line) > LONGEST_LINE:
            _skip_rest_of(line, file)
            yield number, None
        elif line.strip():
            yield number, line
        line = file.readline(LONGEST_LINE + 1)


def _skip_rest_of(line: bytes, file: BinaryIO) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(_PIECE)
