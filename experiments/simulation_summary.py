"""What a simulation says on the terminal and in JSON: before it plays, and when it is done."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..agents.counted import counted
from ..agents.ledger import Ledger, Role
from ..simulation.summary import FaultCounts, Summary
from .conversing import models_of
from .present import SIMULATION
from .simulation_run import SimulationEnd, SimulationRun


def announce(run: SimulationRun, console: Console) -> None:
    """Say what will be played."""
    config = run.config
    if config.models.is_simulated:
        console.print(SIMULATION, style="yellow")
    where = "over Ray" if config.simulation.ray else "in this process"
    console.print(
        f"{counted(len(run.workload), 'conversation')}: "
        f"{counted(len(run.scenarios), 'scenario')} x {config.simulation.repeats}, customers by "
        f"{_customers(run)}, assistant on {config.models.of_agents}, {where}.",
        highlight=False,
        soft_wrap=True,
    )


def _customers(run: SimulationRun) -> str:
    """Say who plays the customers, and on what when it is a model."""
    model = models_of(run.config).get(Role.USER)
    kind = run.config.simulation.user.kind
    return kind if model is None else f"{kind} on {model.model}"


def present(summary: Summary, ledger: Ledger, run: SimulationRun, console: Console) -> None:
    """Print what came of it, and where to read on."""
    console.print()
    console.print(_table(summary))
    for role, usage in sorted(ledger.by_role().items()):
        console.print(
            f"{role} model: {counted(usage.calls, 'call')} ({usage.replayed:,} earlier), "
            f"{counted(usage.attempts, 'request')}, {counted(usage.tokens, 'token')}, "
            f"${usage.cost:.4f}",
            highlight=False,
            soft_wrap=True,
        )
    if not summary.conversations:  # the run stopped before one ended
        return
    console.print(
        f"Conversations:  {escape(str(run.trajectories))}\n"
        f"Read one:       cotune show {escape(str(run.trajectories))} --number 1",
        highlight=False,
        soft_wrap=True,
    )


def summary_json(end: SimulationEnd, ledger: Ledger, run: SimulationRun) -> dict[str, Any]:
    """Return the same as JSON values, and why the run stopped early, if it did."""
    summary = end.summary
    return {
        "stopped": None if end.stopped is None else str(end.stopped),
        "conversations": summary.conversations,
        "replayed": summary.replayed,
        "turns": summary.turns,
        "stops": {str(stop): count for stop, count in sorted(summary.stops.items())},
        "excluded": _by_name(summary.excluded),
        "failed": _by_name(summary.failed),
        "played_again": _by_name(summary.played_again),
        "turn_problems": dict(sorted(summary.turn_problems.items())),
        "usage": {str(role): usage.to_json() for role, usage in sorted(ledger.by_role().items())},
        "simulated": run.config.models.is_simulated,
        "trajectories": str(run.trajectories),
    }


def _table(summary: Summary) -> Table:
    table = Table("", "", "share", show_header=False, box=None, pad_edge=False)
    played = max(1, summary.conversations)
    table.add_row("conversations", f"{summary.conversations:,}", "")
    table.add_row("  turns", f"{summary.turns:,}", f"{summary.turns / played:.1f} each")
    for stop, count in summary.stops.most_common():
        table.add_row(f"  stopped: {stop}", f"{count:,}", f"{count / played:.1%}")
    _add_faults(table, "the assistant's own failures", summary.failed, played)
    _add_faults(table, "excluded from scores", summary.excluded, played)
    _add_faults(table, "played again after", summary.played_again, played)
    # Every turn that was said, and the one that could not be said when a customer failed.
    said = max(1, summary.turns + summary.turn_problems.total())
    for kind, count in summary.turn_problems.most_common():
        table.add_row(f"  refused customer turns: {kind}", f"{count:,}", f"{count / said:.2%}")
    return table


def _add_faults(table: Table, title: str, faults: FaultCounts, played: int) -> None:
    for name, count in _by_name(faults).items():
        table.add_row(f"  {title}: {name}", f"{count:,}", f"{count / played:.1%}")


def _by_name(faults: FaultCounts) -> dict[str, int]:
    return {f"{origin}/{kind}": count for (origin, kind), count in sorted(faults.items())}
