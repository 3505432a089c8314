"""Files of trajectories: JSON lines, written and read one trajectory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..agents.json_lines import stream_json_lines, write_json_lines
from .trajectory import Trajectory
from .trajectory_json import TrajectoryRecord, trajectory_to_json


def write_trajectories(path: Path, trajectories: Iterable[Trajectory]) -> int:
    """Write a file of trajectories, in constant memory; it appears when it is whole.

    Args:
        path: The file; folders are made as needed.
        trajectories: In the order of the lines.

    Returns:
        How many there were.

    Raises:
        CotuneError: The file cannot be written.
    """
    return write_json_lines(path, map(trajectory_to_json, trajectories), "trajectories")


def read_trajectories(path: Path) -> Iterator[Trajectory]:
    """Yield the trajectories of a file, in constant memory; blank lines are skipped.

    Raises:
        UsageError: The file cannot be read, or a line is no trajectory; names the line.
    """
    for record in stream_json_lines(path, "trajectories"):
        yield record.parse(TrajectoryRecord).restored()
