"""What a run says on the terminal: before it spends, and when it is done."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..agents.counted import counted
from ..agents.redact import public
from .agent_run import AgentRun
from .conclusion import bounds, number, reading, sentence, signed
from .run_record import RunRecord

SIMULATION = (
    "This is a simulation: a scripted model answers, not a language model. It shows what a run "
    "does, not what prompts are worth."
)


def announce(run: AgentRun, console: Console) -> None:
    """Say what will be done and what the budget buys."""
    plan, splits = run.plan, run.splits
    if run.about.simulated:
        console.print(SIMULATION, style="yellow")
    console.print(
        f"Agent '{run.agent.name}', model {run.config.models.task.model}, rubric "
        f"'{run.rubric.id}', {len(splits.train)} train / {len(splits.val)} val / "
        f"{len(splits.test)} test examples.",
        highlight=False,
    )
    console.print(
        f"The budget of {counted(plan.total, 'rollout')} buys: {plan.seed} for the seed, at least "
        f"{counted(plan.candidates, 'candidate')} at {plan.per_candidate}, {plan.selection} for "
        f"selection, {plan.test} for the held-out test.",
        highlight=False,
    )


def conclude(record: RunRecord, report: Path, tracking: str | None, console: Console) -> None:
    """Print the result: table, sentence, where to read on."""
    console.print()
    if record.held_out is not None:
        console.print(_held_out_table(record))
    console.print(escape(sentence(record)), style="bold", highlight=False)
    console.print(escape(reading(record)), highlight=False)
    if record.overfit is not None:
        console.print(
            f"Gain on val {signed(record.val_gain)}, overfit (val gain minus test gain) "
            f"{signed(record.overfit)}.",
            highlight=False,
        )
    console.print(escape(f"The search ended: {record.stopped}"), highlight=False)
    if record.simulated:
        console.print(SIMULATION, style="yellow")
    console.print(f"Report:  {escape(str(report))}", highlight=False, soft_wrap=True)
    if tracking is not None:
        console.print(
            f"MLflow:  mlflow ui --backend-store-uri {escape(public(tracking))}",
            highlight=False,
            soft_wrap=True,
        )


def _held_out_table(record: RunRecord) -> Table:
    held_out = record.held_out
    assert held_out is not None
    title = f"Held-out test, {counted(held_out.examples, 'example')}"
    table = Table(title=title, title_justify="left")
    for column in ("", "seed", "winner", "difference", "95 % interval"):
        table.add_column(column, justify="left" if not column else "right")
    rows = {"score": held_out.overall, **held_out.objectives}
    names = {criterion.id: criterion.name for criterion in record.criteria}
    for name, comparison in rows.items():
        table.add_row(
            escape(names.get(name, name)),
            number(comparison.seed),
            number(comparison.winner),
            signed(comparison.difference.mean),
            bounds(comparison.difference),
        )
    return table
