"""What a run says on the terminal: before it spends, and when it is done."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..agents.counted import counted
from ..agents.redact import public
from ..optimizer.engine import Survey
from ..optimizer.held_out import Comparison
from ..optimizer.plan import Plan
from .brief import plain
from .conclusion import (
    SIMULATION,
    bounds,
    joint_sentence,
    number,
    percent,
    reading,
    sentence,
    signed,
)
from .mlflow_access import is_remote
from .run import Run
from .run_record import RunRecord


def announce(run: Run, console: Console) -> None:
    """Say what will be done and what the budget buys."""
    splits = run.splits
    if run.about.simulated:
        console.print(SIMULATION, style="yellow")
    console.print(
        f"{run.subject}, {run.config.models.of_agents}, rubric '{run.rubric.id}', "
        f"{len(splits.train)} train / {len(splits.val)} val / {len(splits.test)} test examples.",
        highlight=False,
    )
    for start in run.about.started_from:
        console.print(escape(f"Starts from {start}"), highlight=False)
    console.print(_bought(run.plan), highlight=False)


def announce_noise(survey: Survey, console: Console) -> None:
    """Say what was measured before the search, and what the test could see."""
    noise, plan = survey.noise, survey.plan
    if noise is None:
        return
    spread = noise.between_scenarios**0.5, noise.between_repeats**0.5
    console.print(
        f"Noise: the seed scores {noise.mean:.3f} on {noise.scenarios} val examples; standard "
        f"deviation {spread[0]:.3f} between examples, {spread[1]:.3f} between repeats of one.",
        highlight=False,
    )
    if plan.detectable is not None:
        console.print(
            f"The held-out test would see a true difference of {plan.detectable:.3f} or more four "
            "times in five; a smaller one will probably end as no evidence. More test examples or "
            "test.repeats make it finer.",
            highlight=False,
        )


def conclude(record: RunRecord, report: Path, tracking: str | None, console: Console) -> None:
    """Print the result: table, sentence, where to read on.

    Args:
        record: The run.
        report: Its page.
        tracking: Where MLflow has it; None when it has not.
        console: Where to print.
    """
    console.print()
    if record.held_out is not None:
        console.print(_held_out_table(record))
    console.print(_shown(sentence(record)), style="bold", highlight=False)
    console.print(_shown(reading(record)), highlight=False)
    if changed := record.changed:
        console.print(
            _shown(f"The winner changes the prompts of {', '.join(changed)}."), highlight=False
        )
    if alone := joint_sentence(record):
        console.print(_shown(alone), highlight=False)
    if record.overfit is not None:
        console.print(
            f"Gain on val {signed(record.val_gain)}, overfit (val gain minus test gain) "
            f"{signed(record.overfit)}.",
            highlight=False,
        )
    console.print(_shown(f"The search ended: {record.stopped}"), highlight=False)
    console.print(_shown(_cost(record)), highlight=False)
    if record.simulated:
        console.print(SIMULATION, style="yellow")
    console.print(f"Report:  {_shown(str(report))}", highlight=False, soft_wrap=True)
    if tracking is not None:
        console.print(
            f"MLflow:  {_shown(_where(tracking))}",
            highlight=False,
            soft_wrap=True,
        )


def _shown(text: str) -> str:
    """Return a text that neither rich nor the terminal obeys."""
    return escape(plain(text))


_UNCOUNTED = "no call of a model was counted; an assistant may have made some by itself"


def _bought(plan: Plan) -> str:
    noise = f"{plan.noise} to measure the noise first, " if plan.noise else ""
    return (
        f"The budget of {counted(plan.total, 'rollout')} buys: {noise}{plan.seed} for the seed, at "
        f"least {counted(plan.candidates, 'candidate')} at {plan.per_candidate}, {plan.selection} "
        f"for selection, {plan.test} for the held-out test."
    )


def _cost(record: RunRecord) -> str:
    """Say what each model role has cost."""
    roles = record.by_role
    parts = (
        f"{role} {counted(usage.calls, 'call')}, {usage.tokens:,} tokens, ${usage.cost:.4f}"
        for role, usage in roles.items()
    )
    unpriced = sum(usage.unpriced for usage in roles.values())
    free = f" No price is known for {counted(unpriced, 'call')}." if unpriced else ""
    return f"Cost: {'; '.join(parts) or _UNCOUNTED}.{free}"


def _where(tracking: str) -> str:
    uri = public(tracking)
    return uri if is_remote(tracking) else f"mlflow ui --backend-store-uri {shlex.quote(uri)}"


def _held_out_table(record: RunRecord) -> Table:
    held_out = record.held_out
    assert held_out is not None
    title = f"Held-out test, {counted(held_out.examples, 'example')}"
    table = Table(title=title, title_justify="left")
    confidence = f"{percent(held_out.overall.difference)} % interval"
    for column in ("", "seed", "winner", "difference", confidence):
        table.add_column(column, justify="left" if not column else "right")
    for name, comparison in _rows(record).items():
        table.add_row(
            _shown(name),
            number(comparison.seed),
            number(comparison.winner),
            signed(comparison.difference.mean),
            bounds(comparison.difference),
        )
    return table


def _rows(record: RunRecord) -> Mapping[str, Comparison]:
    """Return the rows of the table: the score, its parts, and how often what is critical failed."""
    held_out = record.held_out
    assert held_out is not None
    titles, criteria = record.objective_titles, record.criterion_titles
    parts = {titles.get(name, name): one for name, one in held_out.objectives.items()}
    failed = {f"failed: {criteria.get(name, name)}": one for name, one in held_out.critical.items()}
    return {"score": held_out.overall, **parts, **failed}
