"""Verdicts files: JSON lines, a ruling each, written and read one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..agents.json_lines import stream_json_lines, write_json_lines
from .ruling import Ruling


def write_rulings(path: Path, rulings: Iterable[Ruling]) -> int:
    """Write a verdicts file; it appears when it is whole.

    Returns:
        How many there were.

    Raises:
        CotuneError: The file cannot be written.
    """
    lines = (ruling.model_dump(mode="json") for ruling in rulings)
    return write_json_lines(path, lines, "verdicts")


def read_rulings(path: Path) -> Iterator[Ruling]:
    """Yield the rulings of a verdicts file; blank lines are skipped.

    Raises:
        UsageError: The file cannot be read, or a line is no ruling; names the line.
    """
    for record in stream_json_lines(path, "verdicts"):
        yield record.parse(Ruling)
