"""Files of trajectories: JSON lines, written and read one trajectory at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..agents.data_file import Record
from ..agents.errors import CotuneError, UsageError
from .trajectory import Trajectory
from .trajectory_json import TrajectoryRecord, trajectory_to_json


def write_trajectories(path: Path, trajectories: Iterable[Trajectory]) -> int:
    """Write a file of trajectories, in constant memory.

    The file appears when it is whole; until then, and when `trajectories` raises, one that was
    there before stays as it was.

    Args:
        path: The file; folders are made as needed.
        trajectories: In the order of the lines.

    Returns:
        How many there were.

    Raises:
        CotuneError: The file cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        count = _write_lines(unfinished, trajectories)
        unfinished.replace(path)
    except OSError as error:
        raise CotuneError(f"Cannot write the trajectories {path}: {error.strerror}.") from error
    finally:
        with suppress(OSError):  # what could not be written may not be there
            unfinished.unlink()
    return count


def read_trajectories(path: Path) -> Iterator[Trajectory]:
    """Yield the trajectories of a file, in constant memory; blank lines are skipped.

    Raises:
        UsageError: The file cannot be read, or a line is no trajectory; names the line.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _read_line(path, number, line)
    except OSError as error:
        raise UsageError(f"Cannot read the trajectories {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"Cannot read the trajectories {path}: it is not UTF-8.") from error


def _write_lines(path: Path, trajectories: Iterable[Trajectory]) -> int:
    count = 0
    # Half a surrogate pair, as broken emoji have it, is written as the escape that JSON reads.
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        for count, trajectory in enumerate(trajectories, start=1):  # noqa: B007 - returned
            file.write(json.dumps(trajectory_to_json(trajectory), ensure_ascii=False) + "\n")
    return count


def _read_line(path: Path, number: int, line: str) -> Trajectory:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}, line {number}: the line is not valid JSON: {error}.") from error
    return Record(path, number, value).parse(TrajectoryRecord).restored()
