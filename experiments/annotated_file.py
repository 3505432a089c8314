"""The annotated ones of many conversations, in a file of their own to be judged."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ..agents.errors import UsageError
from ..rubrics.conversation_name import conversation_name
from ..simulation.trajectory_file import read_trajectories, write_trajectories
from .run_folder import make_writable

_FILE = "annotated.jsonl"


def write_annotated(trajectories: Path, names: Collection[str], folder: Path) -> Path:
    """Write the conversations of some names into a folder, and return the file.

    Raises:
        UsageError: There is none among the trajectories.
        CotuneError: The folder cannot be written.
    """
    kept = [
        each
        for each in read_trajectories(trajectories)
        if conversation_name(each.scenario, each.metadata) in names
    ]
    if not kept:
        raise UsageError(f"No conversation of {trajectories} is annotated.")
    make_writable(folder)
    write_trajectories(folder / _FILE, kept)
    return folder / _FILE
