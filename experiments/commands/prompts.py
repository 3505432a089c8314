"""`cotune prompts`: take a run's prompts home, and say which are used in production.

What needs MLflow or a run's record is imported when a command runs.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agents.counted import counted
from ...agents.errors import UsageError
from .arguments import AsJson

if TYPE_CHECKING:
    from ...agents.registry_address import RegistryAddress
    from ..prompt_listing import ListedAlias
    from ..run_record import RunRecord

app = typer.Typer(no_args_is_help=True, help="Take prompts home: export, promote, roll back.")

_RUNS = Path("cotune-runs")
_URI_OF_ENVIRONMENT = "MLFLOW_TRACKING_URI"

Run = Annotated[Path, typer.Argument(help="A finished run: its folder, its name, or latest.")]
Runs = Annotated[Path, typer.Option("--runs", help="Folder in which a run's name is looked for.")]
Alias = Annotated[str, typer.Option(help="The alias that code in production loads.")]
Uri = Annotated[
    str | None,
    typer.Option(help="MLflow's tracking URI; the one of the run's configuration when left out."),
]
UriOfRegistry = Annotated[
    str | None,
    typer.Option(
        help="MLflow's tracking URI; when left out, that of the run or of the environment "
        f"variable {_URI_OF_ENVIRONMENT}, or sqlite:///mlflow.db.",
    ),
]


class Form(StrEnum):
    """What prompts are written as."""

    FOLDER = "folder"
    JSON = "json"
    DSPY = "dspy"
    MLFLOW = "mlflow"


_TARGETS = {
    Form.FOLDER: Path("prompts"),
    Form.JSON: Path("prompts.json"),
    Form.DSPY: Path("prompts-dspy.json"),
}


@app.command()
def export(
    run: Run,
    to: Annotated[Form, typer.Option(help="What to write them as.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder or file to write; prompts, prompts.json or prompts-dspy.json when "
            "left out."
        ),
    ] = None,
    uri: Uri = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    runs: Runs = _RUNS,
) -> None:
    """Write the winner's prompts: as files, or into MLflow's registry without any alias."""
    from ..warm_start import read_record

    record = read_record(run, runs)
    if to is Form.MLFLOW:
        if out is not None:
            raise UsageError("--out belongs to files; where MLflow is, --uri says.")
        _export_to_mlflow(record, uri)
    else:
        if uri is not None:
            raise UsageError(f"--uri belongs to --to mlflow, not to --to {to}.")
        _export_to_file(record, run, runs, to, out or _TARGETS[to], force=force)
    if not record.deployable:
        _say_what_was_found(record, "These prompts were not found fit to be used.")
    elif record.simulated:
        _say_what_was_found(record, "These prompts come from a simulation.")


@app.command()
def promote(
    run: Run,
    alias: Alias = "production",
    uri: Uri = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Promote what no test found better, or a simulation.")
    ] = False,
    runs: Runs = _RUNS,
) -> None:
    """Make an alias in MLflow's registry point to the winner's prompts, all agents together."""
    from ..prompt_alias import registry_at
    from ..prompt_promotion import address_of, is_promoted, promote, require_promotable
    from ..tracking import Tracker
    from ..warm_start import read_record

    record = read_record(run, runs)
    where, place = address_of(record, alias), Tracker.of(record, uri).uri
    if not force:
        require_promotable(record)
    _say_what_was_found(record, f"{record.name}, {where}:")
    with registry_at(place) as client:
        done = is_promoted(client, record, where)
    if done:
        typer.echo(f"{where} is this bundle already, {record.chosen.fingerprint}; nothing changed.")
        return
    _confirm(f"Promote {counted(len(record.chosen.prompts), 'prompt')} to '{alias}'?", yes=yes)
    with registry_at(place) as client:
        promote(client, record, where)
    typer.echo(
        f'{where} is now the bundle {record.chosen.fingerprint}. Load it: load_bundle("{where}")\n'
        f"Take it back: cotune prompts rollback {where.task} --alias {alias}"
    )


@app.command()
def rollback(
    task: Annotated[
        str, typer.Argument(metavar="TASK_OR_RUN", help="A task as `list` names it, or a run.")
    ],
    alias: Alias = "production",
    uri: UriOfRegistry = None,
    runs: Runs = _RUNS,
) -> None:
    """Make an alias point to what it pointed to before the last promotion."""
    from ..prompt_alias import PromptAlias, registry_at
    from ..prompt_promotion import roll_back

    where, place = _found(task, alias, uri, runs)
    with registry_at(place, must_exist=True) as client:
        roll_back(client, where)
        bundle = PromptAlias(client, where).bundle()
    said = f"the bundle {bundle}" if bundle else "what it was, which is not one whole bundle"
    typer.echo(f"{where} is again {said}.")


@app.command("list")
def list_aliases(uri: UriOfRegistry = None, as_json: AsJson = False) -> None:
    """List what the aliases of registered prompts point to."""
    from ..prompt_alias import registry_at
    from ..prompt_listing import listed

    with registry_at(uri or _default_uri(), must_exist=True) as client:
        rows = list(listed(client))
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
        return
    for row in rows:
        typer.echo(f"{row.address}\n  {_said(row)}")
    if not rows:
        typer.echo("No prompts of cotune are registered there.")


def _export_to_mlflow(record: RunRecord, uri: str | None) -> None:
    from ..conclusion import sentence
    from ..prompt_alias import registry_at
    from ..prompt_registry import register, registry_name
    from ..tracking import Tracker

    with registry_at(Tracker.of(record, uri).uri) as client:
        versions = register(client, record, sentence(record))
    for agent, version in versions.items():
        typer.echo(f"prompts:/{registry_name(record, agent)}/{version}")
    typer.echo(f"The bundle {record.chosen.fingerprint} is registered; no alias was moved.")


def _export_to_file(
    record: RunRecord, run: Path, runs: Path, to: Form, target: Path, *, force: bool
) -> None:
    from .. import prompt_export
    from ..run_folder import named_run

    prompt_export.require_free(target, force=force)
    bundle = prompt_export.winner_of(record, named_run(run, runs))
    if to is Form.FOLDER:
        for agent in prompt_export.export_folder(bundle, target):
            typer.echo(
                f"{agent}.md does not keep the text to the letter: spaces and empty lines at its "
                "ends are left out, and every line ends alike. --to json keeps it.",
                err=True,
            )
    elif to is Form.JSON:
        prompt_export.export_json(bundle, record, target)
    else:
        prompt_export.export_dspy(bundle, record, target)
    typer.echo(
        f"Wrote {counted(len(bundle), 'prompt')} to {target}: bundle {bundle.fingerprint} of "
        f"{record.name}."
    )


def _found(task: str, alias: str, uri: str | None, runs: Path) -> tuple[RegistryAddress, str]:
    """Return what a task's or a run's alias is called, and at which MLflow."""
    from ..prompt_promotion import address, address_of
    from ..run_folder import named_run
    from ..run_record import FILE_NAME
    from ..tracking import Tracker
    from ..warm_start import read_record

    if (named_run(Path(task), runs) / FILE_NAME).is_file():
        record = read_record(Path(task), runs)
        return address_of(record, alias), Tracker.of(record, uri).uri
    return address(task, alias), uri or _default_uri()


def _default_uri() -> str:
    import os

    from ..tracking import DEFAULT_URI

    return os.environ.get(_URI_OF_ENVIRONMENT) or DEFAULT_URI


def _say_what_was_found(record: RunRecord, before: str) -> None:
    from ..brief import plain
    from ..conclusion import sentence

    simulated = " A scripted model answered, not a language model." if record.simulated else ""
    typer.echo(plain(f"{before} {sentence(record)}{simulated}"))


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{question} There is no terminal to ask at; say --yes.")
    if not typer.confirm(question, err=True):
        typer.echo("Nothing was changed.")
        raise typer.Exit(1)


def _said(row: ListedAlias) -> str:
    from ..brief import plain

    if row.problem:
        return plain(row.problem)
    parts = [f"bundle {row.bundle}"]
    parts += [f"of {row.run}"] if row.run else []
    parts += [row.conclusion.replace("_", " ")] if row.conclusion else []
    parts += [f"since {row.at}"] if row.at else []
    return plain(", ".join(parts))
