"""`cotune judge-check`: whether a judge still agrees with people as its card says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .arguments import (
    AnnotatedConversations,
    AsJson,
    Played,
    Tokens,
    Usd,
)


def judge_check(
    annotations: Annotated[
        list[Path], typer.Argument(help="New annotations, as JSON lines.", dir_okay=False)
    ],
    card: Annotated[Path, typer.Option(help="The judge's card.", dir_okay=False)],
    trajectories: AnnotatedConversations,
    rubric: Annotated[str, typer.Option(help="The pack or file the card was made with.")],
    scenarios: Played = None,
    tokens: Tokens = None,
    usd: Usd = None,
    out: Annotated[Path, typer.Option(help="Folder for verdicts and journal.")] = Path(
        "judge-check"
    ),
    as_json: AsJson = False,
) -> None:
    """Judge newly annotated conversations; exit code 1 when agreement has fallen."""
    from rich.console import Console

    from ...agents.ledger import Ledger
    from ..carded_judge import CardedJudge
    from ..drift import DriftCheck, drifted
    from ..drift_tables import present_drift
    from ..judging_progress import JudgingProgress
    from .resumable import resumable

    check = DriftCheck.prepare(
        annotations,
        CardedJudge.load(card),
        trajectories,
        rubric,
        scenarios=scenarios,
        tokens=tokens,
        usd=usd,
        out=out,
    )
    console, ledger = Console(stderr=as_json), Ledger()
    with (
        resumable(),
        check.judging.journal() as journal,
        JudgingProgress(console, ledger, check.judging.survey.conversations) as progress,
    ):
        found = check.execute(journal, ledger, progress)
    present_drift(found, console)
    if as_json:
        typer.echo(json.dumps([each.to_json() for each in found], indent=2))
    if drifted(found):
        raise typer.Exit(1)
