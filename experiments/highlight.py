"""Quotes found in a text, whatever the case and white space between their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_SHORTEST = 3
"""Characters of a quote; a shorter one would be found everywhere."""
_LONGEST = 2000
_LABEL = re.compile(r"\A\s*(?:\[?turn \d+\]?\s*)?\w+:\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text.

    Attributes:
        text: The part.
        quoted: Whether a quote was found there.
    """

    text: str
    quoted: bool


def spans(text: str, quotes: Iterable[str]) -> tuple[Span, ...]:
    """Return a text in parts, which together are the text."""
    found: list[Span] = []
    end = 0
    for start, stop in _merged(place for quote in quotes for place in places(text, quote)):
        found += [Span(text[end:start], False), Span(text[start:stop], True)]
        end = stop
    found.append(Span(text[end:], False))
    return tuple(span for span in found if span.text)


def places(text: str, quote: str) -> list[tuple[int, int]]:
    """Return where a quote is, with or without the `customer:` it may begin with."""
    for said in (quote, _LABEL.sub("", quote)):
        words = said[:_LONGEST].split()
        if sum(map(len, words)) < _SHORTEST:
            continue
        pattern = r"\s+".join(map(re.escape, words))
        if found := [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]:
            return found
    return []


def _merged(found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield places in order; those that overlap are one."""
    last: tuple[int, int] | None = None
    for start, stop in sorted(found):
        if last is None:
            last = start, stop
        elif start <= last[1]:
            last = last[0], max(last[1], stop)
        else:
            yield last
            last = start, stop
    if last is not None:
        yield last
