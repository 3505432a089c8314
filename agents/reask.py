"""Asking again after an answer that could not be used, in the words of `reask.md`."""

from __future__ import annotations

import re
from pathlib import Path

from .prompts import read_prompt

_REMINDER = read_prompt(Path(__file__).with_name("reask.md"))
_BLANK = _REMINDER.render(dict.fromkeys(_REMINDER.placeholders, "\0"))
_AT_END = re.compile(r"\n\n" + re.escape(_BLANK).replace("\0", r"[^\n]*") + r"\Z")


def with_reminder(text: str, attempt: int, attempts: int, reason: str) -> str:
    """Append to a message what was wrong with the last answer to it.

    No two attempts read the same, so a model without a seed and at temperature 0 can answer
    otherwise than before.

    Args:
        text: The message.
        attempt: Which attempt this is, from 1.
        attempts: How many there are at most.
        reason: Why the last answer could not be used, in one clause.
    """
    values = {
        "attempt": str(attempt),
        "attempts": str(attempts),
        "reason": " ".join(reason.split()),
    }
    return f"{text}\n\n{_REMINDER.render(values)}"


def without_reminder(text: str) -> str:
    """Return a message as it was before it was asked again."""
    return _AT_END.sub("", text)
