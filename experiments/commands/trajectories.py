"""`cotune trajectories`: bring conversations of other systems in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ...agents.counted import counted
from ...agents.errors import UsageError
from ...agents.redact import public
from ...simulation.importers import chat_jsonl, mlflow_traces, tau_bench
from ...simulation.importers.importer import Imported, Importer, Refused
from ...simulation.trajectory import Trajectory
from ...simulation.trajectory_file import write_trajectories
from ..brief import plain

app = typer.Typer(no_args_is_help=True, help="About recorded conversations.")


@app.callback()
def trajectories() -> None:
    """Keep `import` a command of its own: an app with one command would be that command."""


class Format(StrEnum):
    """What can be imported."""

    TAU_BENCH = "tau-bench"
    CHAT = "chat"
    MLFLOW = "mlflow"


_IMPORTERS: Mapping[Format, Importer] = {
    Format.TAU_BENCH: tau_bench.read,
    Format.CHAT: chat_jsonl.read,
    Format.MLFLOW: mlflow_traces.read,
}


@dataclass(slots=True)
class Summary:
    """What an import brought.

    Attributes:
        out: The file written; empty when nothing was loaded.
        loaded: Conversations.
        turns: Turns of all conversations.
        tool_calls: Tool calls of all conversations.
        tool_errors: Those of them that the tool refused.
        rewards: Conversations that came with a score.
        reward_sum: The sum of these scores.
        missing: In how many conversations something is not known, by what.
        refused: The records left out.
    """

    out: str = ""
    loaded: int = 0
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    rewards: int = 0
    reward_sum: float = 0.0
    missing: dict[str, int] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)

    def counting(self, conversations: Iterable[Trajectory]) -> Iterator[Trajectory]:
        """Count conversations while they are passed on."""
        for conversation in conversations:
            calls = [call for _, call in conversation.tool_calls()]
            self.loaded += 1
            self.turns += len(conversation.turns)
            self.tool_calls += len(calls)
            self.tool_errors += sum(bool(call.error) for call in calls)
            reward = conversation.metadata.get("reward")
            if isinstance(reward, (int, float)):
                self.rewards += 1
                self.reward_sum += reward
            for what in conversation.metadata["missing"]:
                self.missing[what] = self.missing.get(what, 0) + 1
            yield conversation


@app.command("import")
def import_(
    source: Annotated[
        str,
        typer.Argument(
            help="A file; for mlflow a tracking URI such as sqlite:///mlflow.db, or the name of an "
            "experiment on the server of MLFLOW_TRACKING_URI."
        ),
    ],
    from_: Annotated[Format, typer.Option("--from", help="What the source is.")],
    out: Annotated[Path, typer.Option(help="The JSONL file of trajectories to write.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write conversations of another system as trajectories.

    Malformed records are left out and named on standard error. The exit code is 1 when nothing
    could be loaded, and then nothing is written.

    Raises:
        UsageError: There is no such source, or it is the file to be written.
    """
    if Path(source).resolve() == out.resolve():
        raise UsageError(f"--out {out} would overwrite what is imported; name another file.")
    summary = _written(_IMPORTERS[from_](source), out)
    for refused in summary.refused:
        typer.echo(plain(f"{public(source)}, {refused}"), err=True)
    if as_json:
        typer.echo(json.dumps(asdict(summary), indent=2))
    else:
        _show(summary)
    if not summary.loaded:
        typer.echo(f"cotune: {public(source)} has no conversation that can be read.", err=True)
        raise typer.Exit(1)


def _written(imported: Imported, out: Path) -> Summary:
    """Write what was imported, if it is anything: a file that was there before is kept else."""
    summary = Summary()
    conversations = summary.counting(imported)
    first = next(conversations, None)
    if first is not None:
        write_trajectories(out, chain([first], conversations))
        summary.out = str(out)
    summary.refused = imported.refused
    return summary


def _show(summary: Summary) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_row("loaded", counted(summary.loaded, "conversation"))
    table.add_row("turns", str(summary.turns))
    table.add_row("tool calls", f"{summary.tool_calls}, {summary.tool_errors} with an error")
    if summary.rewards:
        mean = summary.reward_sum / summary.rewards
        table.add_row("rewards", f"{summary.rewards}, sum {summary.reward_sum:g}, mean {mean:.3f}")
    for what, count in summary.missing.items():
        table.add_row("not known", f"{what.replace('_', ' ')} (in {count})")
    table.add_row("refused", counted(len(summary.refused), "record"))
    console = Console(highlight=False, markup=False)
    console.print(table)
    if summary.out:
        console.print(f"Wrote {summary.out}. Read one with: cotune show {summary.out} --number 1")
