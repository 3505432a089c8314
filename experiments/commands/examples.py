"""`cotune examples`: data for the tasks of single agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...agents.counted import counted
from ...agents.errors import UsageError

app = typer.Typer(no_args_is_help=True, help="About examples for single agents.")


@app.callback()
def examples() -> None:
    """Keep `mine` a command of its own: an app with one command would be that command."""


@app.command()
def mine(
    trajectories: Annotated[
        Path, typer.Argument(help="Trajectories, as JSON lines.", dir_okay=False)
    ],
    agent: Annotated[str, typer.Option(help="Whose calls are cut out.")],
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, val.jsonl and test.jsonl.")],
    verdicts: Annotated[
        Path | None,
        typer.Option(help="What `cotune judge` wrote on them: says what failed.", dir_okay=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives another split.")] = 0,
) -> None:
    """Cut single agent calls out of conversations, split by scenario family.

    Gold is what was returned; where a criterion blames the call it is left empty, and `why` says
    what went wrong. Both are to be checked by a person.
    """
    from ...agents.json_lines import write_json_lines
    from ...optimizer.call_mining import cut_calls, split_calls
    from ...rubrics.ruling_file import read_rulings
    from ...simulation.trajectory_file import read_trajectories

    paths = {split: out / f"{split}.jsonl" for split in ("train", "val", "test")}
    for path in paths.values():
        if path.exists():
            raise UsageError(f"{path} exists already and is not overwritten; name another folder.")
    rulings = None if verdicts is None else {each.number: each for each in read_rulings(verdicts)}
    calls = cut_calls(agent, read_trajectories(trajectories), rulings)
    for split, cut in split_calls(calls, seed).items():
        lines = (each.model_dump(mode="json") for each in cut)
        write_json_lines(paths[split], lines, "examples")
    failed = sum(call.failed for call in calls)
    typer.echo(
        f"Wrote {counted(len(calls), 'example')} of '{agent}' to {out}; {failed} of them lost "
        "points and need their gold. Look at all: 'why' begins with 'check:' until a rule stands "
        f"there. Then:\n  python -m cotune.experiments.check_examples {out}"
    )
