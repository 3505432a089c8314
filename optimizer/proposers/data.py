"""Data: untrusted text, delimited so that a model can tell it from its instructions."""

from __future__ import annotations

import re

_BEGIN, _END = "BEGIN DATA", "END DATA"
_MARKER = re.compile(r"(BEGIN|END)\s+(DATA)", re.IGNORECASE)
_CHARACTERS_PER_TOKEN = 4


def as_data(text: str) -> str:
    """Delimit untrusted text; a delimiter inside it is broken up so that it cannot end it."""
    harmless = _MARKER.sub(r"\1_\2", text)
    return f"{_BEGIN}\n{harmless}\n{_END}"


def one_line(text: str, longest: int | None = None) -> str:
    """Put a text on one line, so that no line of it can pose as one of ours, and cut it.

    Args:
        text: What somebody said.
        longest: Characters kept; what is missing is said.
    """
    line = " ".join(text.split())
    missing = 0 if longest is None else len(line) - longest
    shorter = f"{line[:longest]} … ({missing} more characters)"
    return shorter if missing > 0 and len(shorter) < len(line) else line


def tokens(text: str) -> int:
    """Estimate the tokens of a text at four characters each, as English mostly has."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
