"""The published numbers, read from their file and kept apart from everything measured."""

from __future__ import annotations

from pathlib import Path

from ...agents.yaml_file import load_yaml
from ..record_parts import Data

_FILE = Path(__file__).with_name("published.yaml")


class PublishedRow(Data):
    """One line of the published table, points of 100."""

    name: str
    before: float
    after: float


class Published(Data):
    """The published table.

    Attributes:
        source: Where it was published.
        note: Why it cannot be compared with what is measured here.
        before: What the first column is.
        after: What the second one is.
        rows: The domains, and overall.
    """

    source: str
    note: str
    before: str
    after: str
    rows: tuple[PublishedRow, ...]


def published() -> Published:
    """Return the published table."""
    return load_yaml(Published, _FILE, "published numbers")
