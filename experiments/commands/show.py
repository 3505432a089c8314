"""`cotune show`: one conversation, readable on a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.console import Console

from ...agents.counted import counted
from ...agents.errors import UsageError
from ...simulation.trajectory import Trajectory
from ...simulation.trajectory_file import read_trajectories
from ...simulation.trajectory_json import trajectory_to_json
from ..transcript import transcript


def run(file: Path, id_: str | None, number: int | None, *, as_json: bool, notes: bool) -> None:
    """Run the command; see `cotune show --help`.

    Args:
        file: Trajectories, as JSONL.
        id_: The scenario of the conversation to show.
        number: Which conversation, from 1; the first when neither is given.
        as_json: Whether to print the record itself.
        notes: Whether to show why the customer said what they said.

    Raises:
        UsageError: The file does not have that conversation, or several of that scenario.
    """
    if id_ is not None and number is not None:
        raise UsageError("Give --id or --number, not both.")
    conversations = read_trajectories(file)
    if id_ is None:
        trajectory = _numbered(conversations, 1 if number is None else number, file)
    else:
        trajectory = _of_scenario(conversations, id_, file)
    if as_json:
        typer.echo(json.dumps(trajectory_to_json(trajectory), indent=2))
        return
    console = Console(highlight=False)
    for block in transcript(trajectory, notes=notes):
        console.print(block)


def _numbered(conversations: Iterator[Trajectory], number: int, file: Path) -> Trajectory:
    count = 0
    for count, trajectory in enumerate(conversations, start=1):
        if count == number:
            return trajectory
    if not count:
        raise UsageError(f"{file} holds no conversation.")
    raise UsageError(f"{file} has {counted(count, 'conversation')}; there is no number {number}.")


def _of_scenario(conversations: Iterator[Trajectory], id_: str, file: Path) -> Trajectory:
    found: Trajectory | None = None
    numbers: list[str] = []
    for number, trajectory in enumerate(conversations, start=1):
        if trajectory.scenario == id_:
            found = found or trajectory
            numbers.append(str(number))
    if found is None:
        raise UsageError(f"{file} has no conversation of the scenario '{id_}'.")
    if len(numbers) > 1:
        raise UsageError(
            f"{file} has {len(numbers)} conversations of the scenario '{id_}'. Choose one by "
            f"--number: {', '.join(numbers[:20])}{', …' if len(numbers) > 20 else ''}."
        )
    return found
