"""`cotune model`: get, try and serve the embedded models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from ...agents import local
from ...agents.errors import CotuneError
from ...agents.local.catalog import LocalModel, catalog, get_model
from ...agents.local.client import chat
from ...agents.local.pull import pull
from ...agents.local.server import LocalServer
from ...agents.local.sources import Progress as PullProgress
from ...agents.local.store import find_model, stored_path

app = typer.Typer(no_args_is_help=True, help="Get, try and serve the embedded models.")

Name = Annotated[str, typer.Argument(help="A model's name; see `cotune model list`.")]


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What `cotune model list` says of a model.

    Attributes:
        name: What to type.
        title: The publisher's name and the quantization.
        licence: SPDX identifier.
        bytes: Size of the file.
        state: `ready`, `not pulled` or `damaged`.
        path: Where the file is, or would be.
    """

    name: str
    title: str
    licence: str
    bytes: int
    state: str
    path: str


@app.command("list")
def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the known models and whether they are on this computer."""
    statuses = [_status(model) for model in catalog().values()]
    if as_json:
        typer.echo(json.dumps([asdict(status) for status in statuses], indent=2))
        return
    table = Table("name", "state", "size", "licence", box=None, pad_edge=False)
    table.add_column("file", overflow="fold")
    for status in statuses:
        table.add_row(status.name, status.state, _size(status.bytes), status.licence, status.path)
    Console().print(table)


@app.command("pull")
def pull_model(
    name: Name,
    force: Annotated[bool, typer.Option(help="Replace a file that is already there.")] = False,
) -> None:
    """Download a model; a stopped download goes on where it was."""
    path = pull_shown(get_model(name), Console(stderr=True), force=force)
    typer.echo(f"{name} is ready: {path}")


@app.command()
def serve(
    name: Name,
    port: Annotated[int | None, typer.Option(help="Where to listen; a free port if left out.")] = (
        None
    ),
) -> None:
    """Serve a model on this computer until Ctrl-C."""
    with LocalServer.of(name, port=port) as server:
        typer.echo(f"{name} answers at {server.api_base} ({server.slots} requests at once).")
        typer.echo(f"Use it with: --model openai/{name} --api-base {server.api_base}")
        typer.echo("Stop it with Ctrl-C.")
        try:
            server.wait()
        except KeyboardInterrupt:
            typer.echo("Stopped.")
            return
    raise CotuneError(f"The server of '{name}' ended by itself; start it again.")


@app.command()
def test(name: Name) -> None:
    """Start a model, ask it one question with a fixed set of answers, and stop it."""
    request = json.loads((Path(local.__file__).parent / "probe.json").read_text(encoding="utf-8"))
    with LocalServer.of(name) as server:
        answer = chat(server.port, request)
    typer.echo(f"asked:     {request['messages'][-1]['content']}")
    typer.echo(f"answered:  {_choice(answer)}")
    timings = answer["timings"]
    typer.echo(
        f"speed:     {timings['prompt_per_second']:.0f} prompt tokens/s, "
        f"{timings['predicted_per_second']:.0f} generated tokens/s"
    )


def pull_shown(model: LocalModel, console: Console, *, force: bool = False) -> Path:
    """Download a model and show the progress; return where it is."""
    console.print(f"{model.title}: {_size(model.bytes)}, licence {model.licence}")
    with _shown(console) as progress:
        return pull(model, progress, force=force)


def _status(model: LocalModel) -> ModelStatus:
    try:
        path = find_model(model.name)
        state = "ready" if path else "not pulled"
    except CotuneError:
        path, state = None, "damaged"
    place = str(path or stored_path(model))
    return ModelStatus(model.name, model.title, model.licence, model.bytes, state, place)


def _choice(answer: Mapping[str, Any]) -> str:
    """Return the constrained answer on one line."""
    return json.dumps(json.loads(answer["choices"][0]["message"]["content"]))


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


@contextmanager
def _shown(console: Console) -> Iterator[PullProgress]:
    """Give a progress that draws a bar on a terminal and prints plain lines elsewhere."""
    if not console.is_terminal:
        yield _PlainLines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    bar = Progress(*columns, TransferSpeedColumn(), TimeRemainingColumn(), console=console)
    task = bar.add_task("starting", total=None)

    def show(done_bytes: int, total_bytes: int, what: str) -> None:
        bar.update(task, completed=done_bytes, total=total_bytes, description=what)

    with bar:
        yield show


class _PlainLines:
    """Prints a line when the work changes, and at every tenth of it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: tuple[str, int] | None = None

    def __call__(self, done_bytes: int, total_bytes: int, what: str) -> None:
        now = (what, 10 * done_bytes // total_bytes)
        if now == self._last:
            return
        self._last = now
        self._console.print(f"{what}: {_size(done_bytes)} of {_size(total_bytes)}")
