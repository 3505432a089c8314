"""Rendering: a conversation as a judge reads it, delimited as data.

The delimiters name a fingerprint of what stands between them, which nothing in between can know,
and no line in between begins like one of them (`lines.py`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from ...agents.fingerprint import fingerprint
from ...simulation.trajectory import Trajectory
from .lines import Kind, Line, lines_of
from .shortening import Focus, shortened

CHARACTERS_PER_TOKEN = 4
_BEGIN, _END = "BEGIN CONVERSATION", "END CONVERSATION"
_BLOCK = re.compile(
    rf"^{_BEGIN} (?P<mark>[0-9a-f]{{16}})\n(?P<body>.*?)\n{_END} (?P=mark)$",
    re.MULTILINE | re.DOTALL,
)
_ONLY_SPOKEN = Line("[only what was said; calls and changes are not shown]", "", Kind.NOTE)
_ESCAPED = re.compile(r"\\[nrtbf]")
_WORD = re.compile(r"\w+")


class Detail(StrEnum):
    """What of a conversation is shown.

    Small models lose the thread among calls: for criteria about what is said, show that alone.
    """

    ALL = "all"
    SPOKEN = "spoken"


@dataclass(frozen=True, slots=True)
class Rendering:
    """A conversation as text.

    Attributes:
        body: The lines.
        was_shortened: Whether something was cut; notes in the body say what.
    """

    body: str
    was_shortened: bool = False

    @property
    def text(self) -> str:
        """The lines between their delimiters."""
        mark = fingerprint(self.body)
        return f"{_BEGIN} {mark}\n{self.body}\n{_END} {mark}"

    def contains(self, quote: str) -> bool:
        """Say whether a quote occurs, whatever its case, spacing and punctuation."""
        return (words := _words(quote)) != " " and words in _words(self.body)


def render(
    trajectory: Trajectory,
    max_tokens: int,
    focus: Focus | None = None,
    detail: Detail = Detail.ALL,
) -> Rendering:
    """Render a conversation in at most so many tokens, estimated at four characters each.

    Args:
        trajectory: The conversation.
        max_tokens: Limit, at least 100.
        focus: Where the evidence in question is; it is cut last.
        detail: What is shown at all; if not everything, the first line says so.
    """
    lines = tuple(lines_of(trajectory))
    if detail is Detail.SPOKEN:
        lines = (_ONLY_SPOKEN, *(line for line in lines if line.kind in (Kind.HEAD, Kind.SAID)))
    frame = len(Rendering("").text)
    kept = shortened(lines, max_tokens * CHARACTERS_PER_TOKEN - frame, focus or Focus())
    return Rendering("\n".join(map(str, kept)), was_shortened=kept != lines)


def conversations_in(message: str) -> list[str]:
    """Return the bodies of all delimited conversations in a message; there should be one."""
    return [match["body"] for match in _BLOCK.finditer(message)]


def _words(text: str) -> str:
    """Return a text's words between single spaces, in one form of Unicode."""
    unescaped = _ESCAPED.sub(" ", text)  # line breaks, as JSON writes them
    found = _WORD.findall(unicodedata.normalize("NFKC", unescaped).casefold())
    return f" {' '.join(found)} " if found else " "
