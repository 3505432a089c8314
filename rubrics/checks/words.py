"""The words that checks listen for, and how a text is taken apart for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ...agents.yaml_file import load_yaml

_FILE = Path(__file__).with_name("words.yaml")
_BETWEEN_STATEMENTS = re.compile(r"(?<=[.!?])\s+|[;\n]+")

Patterns = tuple[str, ...]


class Words(BaseModel):
    """Regular expressions by what they show; see `words.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    approves: Patterns
    refuses: Patterns
    claims_nothing: Patterns
    claims_added: Patterns
    claims_removed: Patterns
    claims_ordered: Patterns
    no_price: Patterns


@cache
def words() -> Words:
    """Return the words that come with cotune."""
    return load_yaml(Words, _FILE, "word list")


def says(text: str, patterns: Sequence[str]) -> bool:
    """Say whether a text contains one of the patterns, whatever its case and apostrophes."""
    plain = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return any(re.search(pattern, plain, re.IGNORECASE) for pattern in patterns)


def statements(text: str) -> tuple[str, ...]:
    """Return the parts of a text that each say one thing; questions are left out."""
    parts = (part.strip() for part in _BETWEEN_STATEMENTS.split(text))
    return tuple(part for part in parts if part and not part.endswith("?"))
