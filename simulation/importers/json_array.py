"""The elements of a JSON array as text, one by one, so that a broken one does not hide the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)


def elements(text: str) -> Iterator[str]:
    """Yield the text of each element, itself not checked.

    Args:
        text: A JSON array, from its opening bracket on. Where it breaks off, the last element
            breaks off too.
    """
    start, depth = 1, 0
    for token in _TOKEN.finditer(text, 1):
        match token.group():
            case "[" | "{":
                depth += 1
            case "]" | "}" if depth:
                depth -= 1
            case "," | "]" | "}" if depth == 0:
                yield from _one(text[start : token.start()])
                start = token.end()
                if token.group() != ",":
                    return
    yield from _one(text[start:])


def _one(element: str) -> Iterator[str]:
    if element.strip():
        yield element
