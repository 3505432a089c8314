"""`cotune annotations`: bring in what people said of conversations, and look at it.

What needs the rubrics is imported when a command runs: their checks bring scipy along.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from ...agents.counted import counted
from ...agents.errors import UsageError
from ...agents.redact import public
from ..brief import plain
from .arguments import ReviewExperiment, ReviewMlflow

if TYPE_CHECKING:
    from ..annotation_import import Brought

app = typer.Typer(no_args_is_help=True, help="About what people said of conversations.")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Rubric = Annotated[
    str | None, typer.Option(help="A pack or a file: its criteria and scales are the known ones.")
]

_SHOWN = 20


@app.command("import")
def import_(
    source: Annotated[
        str,
        typer.Argument(help="A file; for mlflow a tracking URI or the name of an experiment."),
    ],
    from_: Annotated[
        str,
        typer.Option("--from", help="What it is: csv, jsonl, label-studio, mlflow or transcript."),
    ],
    out: Annotated[Path, typer.Option(help="The annotations file to write, JSON lines.")],
    rubric: Rubric = None,
    trajectories: Annotated[
        Path | None, typer.Option(help="The conversations that were annotated.", dir_okay=False)
    ] = None,
    format_: Annotated[
        Path | None, typer.Option("--format", help="How to read it, as YAML.", dir_okay=False)
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="PART=NAME", help="Where a part stands: conversation=dialogue_id."),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(metavar="WRITTEN=MEANING", help="What a value means: good=1."),
    ] = None,
    criterion: Annotated[str | None, typer.Option(help="The criterion of all.")] = None,
    annotator: Annotated[str | None, typer.Option(help="The annotator of all.")] = None,
    conversations: Annotated[
        Path | None,
        typer.Option(help="Of a transcript: also write its dialogues here, as trajectories."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write what people said as annotations.

    What cannot be used (an unknown conversation or criterion, a value that is not on the scale, a
    second value by the same person) is left out and named on standard error. The exit code is 1
    when nothing could be used, and then nothing is written.

    Raises:
        UsageError: There is no such source, or it is a file to be written.
    """
    from ..annotation_import import FormatOptions, Source, bring, write_conversations

    if from_ not in set(Source):
        raise UsageError(f"--from is '{from_}'; allowed: {', '.join(Source)}.")
    kind = Source(from_)
    for file in (out, conversations):
        if file is not None and file.resolve() == Path(source).resolve():
            raise UsageError(f"{file} would overwrite what is imported; name another file.")
    if conversations is not None and kind is not Source.TRANSCRIPT:
        raise UsageError("--conversations goes with --from transcript: others have no dialogues.")
    given = FormatOptions(format_, tuple(column or ()), tuple(value or ()), criterion, annotator)
    form = given.format()
    brought = bring(source, kind, form, rubric, trajectories, out)
    if conversations is not None:
        write_conversations(source, form, conversations)
    _report(brought, source, out, as_json=as_json)


@app.command("pull")
def pull(
    trajectories: Annotated[
        Path, typer.Argument(help="The conversations that were sent.", dir_okay=False)
    ],
    rubric: Annotated[str, typer.Option(help="The pack or file that people were asked by.")],
    out: Annotated[Path, typer.Option(help="The annotations file to write, JSON lines.")],
    mlflow: ReviewMlflow = "sqlite:///mlflow.db",
    experiment: ReviewExperiment = "cotune-annotations",
    as_json: AsJson = False,
) -> None:
    """Fetch all that people said of what `cotune annotate` sent; the file is written anew.

    What cannot be used is left out and named on standard error. The exit code is 1 when there is
    nothing yet.
    """
    from ..annotation_place import ReviewPlace
    from ..annotation_pull import pull as pulled

    brought = pulled(ReviewPlace(mlflow, experiment), trajectories, rubric, out)
    _report(brought, experiment, out, as_json=as_json)


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(help="An annotations file.", dir_okay=False)],
    rubric: Rubric = None,
    conversation: Annotated[
        str | None, typer.Option(help="Show all that was said of this conversation.")
    ] = None,
    certainty: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Name items of which people are less certain.")
    ] = 0.6,
    as_json: AsJson = False,
) -> None:
    """Sum up annotations: values by criterion, and the items on which people do not agree."""
    from ..annotation_summary import said_of, summary, summary_json

    if conversation is not None:
        lines = said_of(conversation, file, rubric)
        typer.echo(json.dumps(lines, indent=2, ensure_ascii=False) if as_json else _told(lines))
        return
    summed = summary(file, rubric, certainty)
    if as_json:
        typer.echo(json.dumps(summary_json(summed), indent=2, ensure_ascii=False))
    else:
        summed.print(Console(highlight=False, markup=False))


def _told(lines: list[dict[str, Any]]) -> str:
    return "\n".join(plain(_line(**line)) for line in lines)


def _line(
    criterion: str, annotator: str, said: str, rationale: str, turn: int | None, **_: object
) -> str:
    about = criterion if turn is None else f"{criterion} (turn {turn})"
    return f"{about}: {annotator} says {said}{f': {rationale}' if rationale else ''}"


def _report(brought: Brought, source: str, out: Path, *, as_json: bool) -> None:
    for refused in brought.refused[:_SHOWN]:
        typer.echo(plain(f"{public(source)}, {refused}"), err=True)
    if len(brought.refused) > _SHOWN:
        left = out.with_name(f"{out.stem}.refused.txt")
        left.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(plain(str(each)) for each in brought.refused)
        left.write_text(f"{text}\n", encoding="utf-8")
        more = len(brought.refused) - _SHOWN
        typer.echo(f"… and {more:,} more; all of them are in {left}.", err=True)
    if as_json:
        typer.echo(json.dumps(asdict(brought), indent=2, ensure_ascii=False))
    else:
        _say(brought, out)
    if not brought.annotations:
        typer.echo(f"cotune: {public(source)} has no annotation that can be used.", err=True)
        raise typer.Exit(1)


def _say(brought: Brought, out: Path) -> None:
    people = counted(brought.annotators, "annotator")
    about = counted(brought.conversations, "conversation")
    typer.echo(f"{counted(brought.annotations, 'annotation')} of {about} by {people}.")
    for criterion, count in sorted(brought.by_criterion.items()):
        typer.echo(plain(f"  {criterion}: {count:,}"))
    typer.echo(f"Left out: {len(brought.refused):,}.")
    if brought.annotations:
        typer.echo(f"Wrote {out}. Look at it with: cotune annotations show {out}")
