"""Counted things in words: one conversation, 2,000 conversations."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Args:
        count: How many.
        one: What one of them is called.
        many: What several are called; `one` with an s when left out.
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
