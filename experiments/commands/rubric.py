"""`cotune rubric`: write, check, read and understand rubrics.

What needs the rubrics is imported when a command runs: their checks bring scipy along.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...agents.counted import counted
from ...agents.errors import CotuneError, UsageError
from ...agents.text_file import read_text

if TYPE_CHECKING:
    from ...rubrics.criterion import Criterion
    from ...rubrics.explain import Explanation
    from ...rubrics.rubric import Rubric

app = typer.Typer(no_args_is_help=True, help="Write, check, read and understand rubrics.")

Source = Annotated[
    str, typer.Argument(help="A pack (magic, sera, pace, …) or the path of a YAML file.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Assistant = Annotated[
    str | None, typer.Option(help="A reference assistant whose agents are the known ones: grocery.")
]


@app.command("new")
def new(path: Annotated[Path, typer.Argument(help="Where to write it.")]) -> None:
    """Write a commented rubric to start from, with the questions to answer."""
    from ...rubrics.rubric_file import STARTER

    if path.exists():
        raise UsageError(f"{path} exists already and is not overwritten; name another file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STARTER, path)
    except OSError as error:
        raise CotuneError(f"The rubric {path} cannot be written: {error}.") from error
    typer.echo(
        f"Wrote {path}. Answer the questions in it, then:\n"
        f"  cotune rubric validate {path} --agents planner,writer\n"
        f"  cotune rubric show {path}"
    )


@app.command("validate")
def validate(
    source: Source,
    agents: Annotated[
        str | None, typer.Option(help="The assistant's agents, separated by commas.")
    ] = None,
    assistant: Assistant = None,
) -> None:
    """Name everything that is wrong with a rubric, line by line; exit code 2 if anything is."""
    from ...rubrics.lint import lint
    from ...rubrics.rubric_file import load_rubric, rubric_path

    path = rubric_path(source)
    complaints = lint(path, _known_agents(agents, assistant))
    for complaint in complaints:
        typer.echo(f"{path}:{complaint.line}: {complaint.place}: {complaint.message}", err=True)
    if complaints:
        typer.echo(f"cotune: {path} has {counted(len(complaints), 'problem')}.", err=True)
        raise typer.Exit(UsageError.exit_code)
    rubric = load_rubric(path)
    typer.echo(
        f"{path} is sound: {counted(len(rubric.criteria), 'criterion', 'criteria')} in "
        f"{counted(len(rubric.domains), 'domain')}."
    )


@app.command("show")
def show(source: Source, as_json: AsJson = False) -> None:
    """Print a rubric as people read it."""
    from ...rubrics.rubric_file import load_rubric

    rubric = load_rubric(source)
    if as_json:
        content = {**rubric.model_dump(mode="json"), "fingerprint": rubric.fingerprint}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    _print_rubric(rubric, Console())


@app.command("explain")
def explain_score(
    source: Source,
    verdicts: Annotated[
        Path,
        typer.Option(
            help="JSON list of verdicts on one subject, '-' for standard input: "
            '[{"criterion": "quantity", "value": 1}, …].',
            allow_dash=True,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show step by step how a set of verdicts becomes a score."""
    from ...rubrics.explain import explain
    from ...rubrics.rubric_file import load_rubric
    from ...rubrics.verdict_file import read_verdicts, score_json

    rubric = load_rubric(source)
    from_stdin = verdicts == Path("-")
    text = sys.stdin.read() if from_stdin else read_text(verdicts, "verdicts file")
    name = "standard input" if from_stdin else str(verdicts)
    given = read_verdicts(text, rubric, name)
    try:
        explanation = explain(rubric, given)
    except ValueError as error:
        raise UsageError(f"The verdicts in {name} cannot be scored: {error}.") from error
    if as_json:
        steps = [asdict(step) for step in explanation.steps]
        content = {
            "rubric": rubric.id,
            "fingerprint": rubric.fingerprint,
            **score_json(explanation.score),
            "steps": steps,
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    _print_explanation(explanation, Console())


def _known_agents(named: str | None, assistant: str | None) -> Sequence[str] | None:
    """Return the agents a rubric may name; None when the command does not say."""
    if named is not None and assistant is not None:
        raise UsageError("Give --agents or --assistant, not both.")
    if named is not None:
        return [agent.strip() for agent in named.split(",") if agent.strip()]
    if assistant is None:
        return None
    if assistant != "grocery":
        raise UsageError(
            f"There is no reference assistant '{assistant}'; there is: grocery. Name the agents of "
            "your own with --agents."
        )
    from ...agents.grocery.signatures import AGENTS

    return list(AGENTS)


def _print_rubric(rubric: Rubric, console: Console) -> None:
    console.print(escape(f"{rubric.name} ({rubric.id})"), style="bold", highlight=False)
    if rubric.description:
        console.print(escape(rubric.description), highlight=False)
    console.print(
        f"Scores a {rubric.subject}. In the objective, a failed critical criterion zeroes the "
        f"{rubric.critical_policy}. A judge may leave {rubric.max_undecided:.0%} of it open.",
        highlight=False,
    )
    for domain in rubric.domains:
        title = escape(f"{domain.name}, {domain.weight:g} %")
        table = Table("criterion", "what good is", title=title, title_justify="left")
        for criterion in rubric.in_domain(domain.id):
            table.add_row(escape(_named(criterion)), escape(_scale(criterion)))
            table.add_section()
        console.print(table)


def _named(criterion: Criterion) -> str:
    """Name a criterion with what it weighs and who decides it."""
    check = [] if criterion.check is None else [f"check {criterion.check.name}"]
    judge = ["judge"] if criterion.judged else []
    lines = [criterion.name, criterion.id, f"points: {criterion.points:g}"]
    lines += ["critical"] if criterion.critical else []
    lines += [] if criterion.aggregate is None else [f"{criterion.aggregate} over the turns"]
    return "\n".join([*lines, ", then ".join([*check, *judge])])


def _scale(criterion: Criterion) -> str:
    """Say what each value means, when the criterion applies and whom it concerns."""
    if isinstance(criterion.scale, str):
        lines = [f"pass: {criterion.passes}", f"fail: {criterion.fails}"]
    else:
        lines = [
            f"{tier.value:g}{' (fails)' if criterion.fails_at(tier.value) else ''}: {tier.text}"
            for tier in criterion.scale
        ]
    agents = [f"agents: {', '.join(criterion.agents)}"] if criterion.agents else []
    return "\n".join([*lines, f"applies: {criterion.applies}", *agents])


def _print_explanation(explanation: Explanation, console: Console) -> None:
    for number, step in enumerate(explanation.steps, start=1):
        console.print(f"{number}. {step.title}", style="bold", highlight=False)
        for line in step.lines:
            console.print(f"   {escape(line)}", highlight=False, soft_wrap=True)
