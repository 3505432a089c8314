"""The findings about a service, as a table for people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .adapter_check import Finding, Outcome

_STYLES = {Outcome.PASSED: "green", Outcome.FAILED: "red", Outcome.SKIPPED: "dim"}


def show(found: list[Finding], url: str) -> None:
    """Print what was found, and the remedies below."""
    console = Console()
    table = Table("The service", "", "What was seen", title=escape(url))
    for each in found:
        outcome = f"[{_STYLES[each.outcome]}]{each.outcome}[/]"
        table.add_row(each.name, outcome, escape(each.seen))
    console.print(table)
    for each in found:
        if each.remedy:
            console.print(f"[bold]{each.name}[/]: {escape(each.remedy)}")
