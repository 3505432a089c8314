"""Differences of two texts, word by word, in lines to be read.

Lines are aligned first, then the words of those that differ, so that a rewritten sentence shows
what was rewritten and a moved paragraph does not scramble its neighbours. What is very frequent in
a long text is aligned by its neighbours alone: a model that repeats itself would take minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_WORDS = re.compile(
    r"\n|[^\S\n]+"
    r"|[\u3040-\u30ff\u3400-\u9fff]"  # written without spaces: each sign is a word
    r"|[^\W\u3040-\u30ff\u3400-\u9fff]+"
    r"|[^\w\s]"
)
_ALIKE = 0.35
"""Share of common words below which two passages are shown one after the other."""
_MOST_PAIRS = 20_000_000
"""Words times words above which a passage is not compared word by word, which would take long."""


class Kind(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words with one fate.

    Attributes:
        kind: What became of them.
        text: The words, with the white space between them.
    """

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line; its end, where it has one, belongs to its last piece.

    Attributes:
        pieces: In reading order, what was removed before what came in its place.
    """

    pieces: tuple[Piece, ...]

    @property
    def changed(self) -> bool:
        """Whether anything in it was added or removed."""
        return any(piece.kind is not Kind.SAME for piece in self.pieces)

    @property
    def kind(self) -> Kind | None:
        """What became of the whole line; None when its words met different fates."""
        kinds = {piece.kind for piece in self.pieces}
        return kinds.pop() if len(kinds) == 1 else None


@dataclass(frozen=True, slots=True)
class Gap:
    """Unchanged lines that are not shown.

    Attributes:
        lines: How many.
    """

    lines: int


def word_diff(before: str, after: str) -> tuple[Line, ...]:
    """Return all lines of both texts; without what was added they are `before`, and vice versa."""
    return tuple(_lines(_joined(_pieces(before, after))))


def folded(lines: Sequence[Line], context: int = 2) -> tuple[Line | Gap, ...]:
    """Return the lines with unchanged passages left out.

    Args:
        lines: Of a difference.
        context: Unchanged lines kept on either side of a change.
    """
    changes = [index for index, line in enumerate(lines) if line.changed]
    near = {index for change in changes for index in range(change - context, change + context + 1)}
    found: list[Line | Gap] = []
    hidden = 0
    for index, line in enumerate(lines):
        if index not in near:
            hidden += 1
            continue
        if hidden:
            found.append(Gap(hidden))
        hidden = 0
        found.append(line)
    return (*found, Gap(hidden)) if hidden else tuple(found)


def _pieces(before: str, after: str) -> Iterator[Piece]:
    """Yield pieces, aligned by lines; those that differ are aligned by words."""
    old, new = _LINES.findall(before), _LINES.findall(after)
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            yield Piece(Kind.SAME, "".join(old[a:b]))
        else:
            yield from _passage("".join(old[a:b]), "".join(new[c:d]))


def _passage(before: str, after: str) -> Iterator[Piece]:
    """Yield the pieces of two passages that differ."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    whole = (Piece(Kind.REMOVED, before), Piece(Kind.ADDED, after))
    if not before or not after or len(old) * len(new) > _MOST_PAIRS:
        yield from whole
        return
    codes = SequenceMatcher(None, old, new).get_opcodes()
    if _common(codes, old) < _ALIKE * min(_count(old), _count(new)):
        yield from whole
        return
    for tag, a, b, c, d in codes:
        removed, added = "".join(old[a:b]), "".join(new[c:d])
        if tag == "equal" and not (added.isspace() and "\n" not in added):
            yield Piece(Kind.SAME, added)
        else:  # a space between changed words changes with them, or each word would stand alone
            yield Piece(Kind.REMOVED, removed)
            yield Piece(Kind.ADDED, added)


def _common(codes: Sequence[tuple[str, int, int, int, int]], old: Sequence[str]) -> int:
    return sum(_count(old[a:b]) for tag, a, b, _, _ in codes if tag == "equal")


def _count(words: Sequence[str]) -> int:
    return sum(not word.isspace() for word in words)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Between two unchanged pieces, join all that was removed, and all that came in its place."""
    for same, group in groupby(pieces, lambda piece: piece.kind is Kind.SAME):
        parts = list(group)
        if same:
            yield from parts
            continue
        removed, added = (
            "".join(piece.text for piece in parts if piece.kind is kind)
            for kind in (Kind.REMOVED, Kind.ADDED)
        )
        if removed == added:  # a space with nothing changed around it
            yield Piece(Kind.SAME, added)
            continue
        changed = Piece(Kind.REMOVED, removed), Piece(Kind.ADDED, added)
        yield from (piece for piece in changed if piece.text)


def _lines(pieces: Iterable[Piece]) -> Iterator[Line]:
    """Yield lines; a piece that goes over several is cut at their ends."""
    line: list[Piece] = []
    for piece in pieces:
        for part in _LINES.findall(piece.text):
            line.append(Piece(piece.kind, part))
            if part.endswith("\n"):
                yield Line(tuple(line))
                line = []
    if line:
        yield Line(tuple(line))
