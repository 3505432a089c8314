"""`cotune scenarios`: check, show and split scenario files."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...agents.counted import counted
from ...agents.errors import CotuneError, UsageError
from ...agents.problem import problems_of
from ...simulation.scenario import Scenario
from ...simulation.scenario_file import check_scenarios, compact, load_scenarios, write_scenarios
from ...simulation.scenario_split import Shares, split_scenarios
from ..brief import plain

app = typer.Typer(no_args_is_help=True, help="Check, show and split scenarios.")

Source = Annotated[
    str, typer.Argument(metavar="FILE", help="A .jsonl or .yaml file, or a pack: grocery.")
]


@app.command()
def validate(file: Source) -> None:
    """Check a scenario file and list everything that is wrong with it, by line."""
    checked = check_scenarios(file)
    if not checked.problems:
        typer.echo(f"{checked.path}: {_counts(checked.scenarios)}.")
        return
    table = _table("line", "field", "problem")
    for problem in checked.problems:
        table.add_row(str(problem.line), _cell(problem.field or "-"), _cell(problem.said))
    Console().print(table)
    lines = len({problem.line for problem in checked.problems})
    typer.echo(
        f"{checked.path}: {counted(len(checked.problems), 'problem')} on "
        f"{counted(lines, 'line')}; sound: {counted(len(checked.scenarios), 'scenario')}.",
        err=True,
    )
    raise typer.Exit(UsageError.exit_code)


@app.command()
def show(
    file: Source,
    id_: Annotated[str | None, typer.Option("--id", help="Show this scenario whole.")] = None,
    family: Annotated[str | None, typer.Option(help="List the scenarios of a family.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the families of a scenario file, the scenarios of one, or one scenario."""
    chosen = _chosen(load_scenarios(file), id_, family)
    if as_json:
        data = [one.model_dump(mode="json") for one in chosen]
        typer.echo(json.dumps(data[0] if id_ else data, indent=2, ensure_ascii=False))
    elif id_:
        Console().print(_whole(chosen[0]))
    elif family:
        Console().print(_listed(chosen))
    else:
        Console().print(_by_family(chosen))


@app.command()
def split(
    file: Source,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, val.jsonl and test.jsonl.")],
    seed: Annotated[int, typer.Option(help="Another seed gives another split.")] = 0,
    train: Annotated[float, typer.Option(help="Share to learn from.")] = 0.5,
    val: Annotated[float, typer.Option(help="Share to choose by.")] = 0.2,
    test: Annotated[float, typer.Option(help="Share to be believed, touched once.")] = 0.3,
) -> None:
    """Split scenarios by family, with outcomes and tags spread evenly."""
    splits = split_scenarios(load_scenarios(file), _shares(train, val, test), seed)
    paths = {name: out / f"{name}.jsonl" for name in splits}
    for path in paths.values():
        if path.exists():
            raise UsageError(
                f"{path} is there already. Choose another folder, or delete it first; results "
                "on a split mean nothing for another."
            )
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, scenarios in splits.items():
            write_scenarios(paths[name], scenarios)
    except OSError as error:
        raise CotuneError(
            f"The splits cannot be written to {out} ({error.strerror}). Name another folder with "
            "--out."
        ) from error
    Console().print(_sizes(splits))


def _shares(train: float, val: float, test: float) -> Shares:
    try:
        return Shares(train=train, val=val, test=test)
    except ValidationError as error:
        place, said = next(problems_of(error, Shares))
        option = f"--{place[0]}" if place else "--train, --val and --test"
        raise UsageError(f"{option}: {said}. Give three shares, such as 0.5, 0.2, 0.3.") from error


def _chosen(
    scenarios: Sequence[Scenario], id_: str | None, family: str | None
) -> Sequence[Scenario]:
    """Return the scenarios that are asked for; there is at least one."""
    if family is not None:
        _require("family", family, (one.family for one in scenarios))
        scenarios = [one for one in scenarios if one.family == family]
    if id_ is not None:
        _require("scenario", id_, (one.id for one in scenarios))
        scenarios = [one for one in scenarios if one.id == id_]
    return scenarios


def _require(what: str, wanted: str, there: Iterable[str]) -> None:
    known = list(dict.fromkeys(there))
    if wanted in known:
        return
    near = difflib.get_close_matches(wanted, known) or known[:5]
    named = ", ".join(map(repr, near))
    raise UsageError(f"There is no {what} '{wanted}' here. There is, for example: {named}.")


def _by_family(scenarios: Sequence[Scenario]) -> Table:
    families: dict[str, list[Scenario]] = {}
    for one in scenarios:
        families.setdefault(one.family, []).append(one)
    table = _table("family", "scenarios", "outcome", "tags", title=_counts(scenarios))
    for name, members in families.items():
        outcomes = ", ".join(sorted({one.outcome for one in members}))
        tags = ", ".join(dict.fromkeys(tag for one in members for tag in one.tags))
        table.add_row(_cell(name), str(len(members)), outcomes, _cell(tags))
    return table


def _counts(scenarios: Sequence[Scenario]) -> str:
    families = len({one.family for one in scenarios})
    return f"{counted(len(scenarios), 'scenario')} in {counted(families, 'family', 'families')}"


def _listed(scenarios: Sequence[Scenario]) -> Table:
    table = _table("id", "persona", "outcome", "goal")
    for one in scenarios:
        table.add_row(_cell(one.id), _cell(one.persona), one.outcome, _cell(one.goal))
    return table


def _whole(scenario: Scenario) -> Table:
    """Return every field that says something, in the order of the format."""
    table = _table("field", "value")
    for name, value in compact(scenario).items():
        entries = value if isinstance(value, list) else [value]
        table.add_row(name, _cell("\n".join(map(_line, entries))))
    return table


def _cell(text: str) -> str:
    """Return a text of the file as a cell: neither markup nor terminal obeys it."""
    return escape(plain(text))


def _line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sizes(splits: Mapping[str, Sequence[Scenario]]) -> Table:
    everything = Counter(one.outcome for scenarios in splits.values() for one in scenarios)
    table = _table("split", "scenarios", "families", *everything)
    for name, scenarios in splits.items():
        outcomes = Counter(one.outcome for one in scenarios)
        families = len({one.family for one in scenarios})
        counts = (len(scenarios), families, *(outcomes[outcome] for outcome in everything))
        table.add_row(name, *map(str, counts))
    return table


def _table(*columns: str, title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
