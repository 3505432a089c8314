"""Runs that a person stops: they go on when the same command is run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def resumable() -> Iterator[None]:
    """Tell a person who stops a run how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(
            "Stopped. What was paid for is in the journal: run the same command again and it "
            "goes on from here.",
            err=True,
        )
        raise typer.Exit(130) from None
