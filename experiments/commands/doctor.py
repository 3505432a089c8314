"""`cotune doctor`: what is wrong, before money is spent."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape

from ...agents.counted import counted
from ...agents.errors import UsageError
from ..doctor.checkup import checkup
from ..doctor.finding import Finding, Level

_SIGNS = {
    Level.FINE: "[green]✓[/]",
    Level.SKIPPED: "[dim]–[/]",
    Level.WARNING: "[yellow]![/]",
    Level.PROBLEM: "[red]✗[/]",
}


def run(config: Path, *, ask_models: bool, as_json: bool) -> None:
    """Run the command; see `cotune doctor --help`."""
    console = Console(stderr=as_json, highlight=False)
    found = checkup(config, lambda finding: _show(console, finding), ask_models=ask_models)
    levels = Counter(each.level for each in found)
    problems, warnings = levels[Level.PROBLEM], levels[Level.WARNING]
    unread = found[0].level is Level.PROBLEM  # there is no configuration to look at
    console.print(f"\n{counted(problems, 'problem')}, {counted(warnings, 'warning')}.")
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], indent=2, ensure_ascii=False))
    if problems:
        raise typer.Exit(UsageError.exit_code if unread else 1)


def _show(console: Console, finding: Finding) -> None:
    head = f"{_SIGNS[finding.level]} [bold]{escape(finding.about)}[/]"
    console.print(f"{head}: {escape(finding.said)}")
    if finding.remedy:
        console.print(f"  → {escape(finding.remedy)}")
