"""What a comparison says on the terminal: before it spends, and when it is done."""

from __future__ import annotations

from pathlib import Path

from rich import table as rich
from rich.console import Console
from rich.markup import escape

from ...agents.counted import counted
from .experiment import MagicRun
from .record import MagicRecord
from .tables import (
    Table,
    differences_table,
    nodes_table,
    published_table,
    safety,
    scores_table,
)

_SIMULATION = (
    "This is a simulation: a scripted model answers, not a language model. It shows what the "
    "comparison does, not what prompts are worth."
)


def announce(run: MagicRun, console: Console) -> None:
    """Say what will be done and what it may spend."""
    splits, agents = run.system.splits, len(run.system.seed)
    if run.system.about.simulated:
        console.print(_SIMULATION, style="yellow")
    console.print(
        f"Four arms on {counted(len(splits.test), 'held-out scenario')}; "
        f"{len(splits.train)} train / {len(splits.val)} val. Arms (b), (c) and (d) may spend "
        f"{counted(run.rollouts, 'rollout')} each on search and selection: (b) "
        f"{run.rollouts // agents} for each of {agents} agents, (d) half of it like (b) and half "
        f"on all prompts together. With all tests at most {counted(run.total, 'rollout')}, of "
        "which those that stages share are played once.",
        highlight=False,
    )
    if run.minutes is not None:
        console.print(
            f"It stops after some {run.minutes:g} minutes with what it has.", highlight=False
        )


def conclude(record: MagicRecord, page: Path, console: Console) -> None:
    """Print the tables, the published one apart, and where to read on."""
    for table in (nodes_table(record), scores_table(record), differences_table(record)):
        console.print(_printable(table))
    for said in safety(record):
        console.print(escape(said), style="bold", highlight=False)
    console.print(_printable(published_table(record)))
    console.print(record.published.note, highlight=False)
    if record.simulated:
        console.print(_SIMULATION, style="yellow")
    console.print(
        f"{counted(record.conversations, 'conversation')} played, {record.seconds:.0f} s.",
        highlight=False,
    )
    console.print(f"Page:    {escape(str(page))}", highlight=False, soft_wrap=True)


def _printable(table: Table) -> rich.Table:
    printable = rich.Table(title=escape(table.title), title_justify="left")
    for index, column in enumerate(table.columns):
        printable.add_column(escape(column), justify="right" if index else "left")
    for row in table.rows:
        printable.add_row(*map(escape, row))
    return printable
