"""Writes the page `reference/cli.md` while the site is built: every command, from its own help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from cotune.experiments.cli import add_groups, app

PAGE = "reference/cli.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to those that were found."""
    files.append(File.generated(config, PAGE, content=cli_reference()))
    return files


def cli_reference() -> str:
    """Return the page, in Markdown."""
    add_groups()
    command = typer.main.get_command(app)
    lead = "Every command with its arguments and options, as `--help` prints them."
    return "\n\n".join(["# Command line", lead, *_sections(command, "cotune")]) + "\n"


def _sections(command: Any, name: str) -> Iterator[str]:
    """Yield a command's section and those of the commands in it."""
    context = typer.Context(command, info_name=name)
    yield f"## {name}"
    if command.help:
        yield command.help.partition("\f")[0].strip()
    yield f"```text\n{' '.join([name, *command.collect_usage_pieces(context)])}\n```"
    rows = [_row(each, context) for each in command.params if not getattr(each, "hidden", False)]
    if rows:
        yield "\n".join(["| | meaning |", "|---|---|", *rows])
    for each in getattr(command, "commands", {}).values():
        yield from _sections(each, f"{name} {each.name}")


def _row(parameter: Any, context: Any) -> str:
    """Return a line of a table: how it is written, and what it means."""
    said = parameter.get_help_record(context)
    names, text = said or (parameter.make_metavar(context), "")
    escaped = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return f"| `{names.replace('|', '/')}` | {escaped} |"
