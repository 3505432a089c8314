"""JSON values in a few words, for a terminal; what others wrote cannot steer the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

LONGEST = 200
"""Characters of a brief."""

_LEVELS = 6
_COUNTED_AT_A_GLANCE = 3
_NO_CONTENT = (None, "", [], {})

_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,500}(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
)
# Control characters but tab and newline, and those that turn the direction of writing around.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: str) -> str:
    """Take out whatever a terminal would obey instead of show."""
    return _CONTROL.sub("", _ESCAPE_SEQUENCE.sub("", text))


def brief(value: Any, longest: int = LONGEST, levels: int = _LEVELS) -> str:
    """Say a JSON value on one line.

    Things that have a name are said by it: of a product only that is of interest here.

    Args:
        value: The value.
        longest: Characters; what is beyond is cut off.
        levels: How far to go into lists and objects.
    """
    words = " ".join(plain(_said(value, levels)).split())
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"


def fields(values: Mapping[str, Any], longest: int = LONGEST, levels: int = _LEVELS) -> str:
    """Say an object field by field, as `name=value`; fields without content are left out."""
    told = {name: value for name, value in values.items() if value not in _NO_CONTENT}
    words = (f"{name}={brief(value, longest, levels - 1)}" for name, value in told.items())
    return brief(", ".join(words), longest)


def _said(value: Any, levels: int) -> str:
    match value:
        case str():
            return value
        case {"name": str(name)}:
            return name
        case Mapping() | [_, *_] if not levels:
            return "…"
        case Mapping():
            return f"{{{fields(value, levels=levels)}}}"
        case [*items] if items:
            count = f"{len(items)}: " if len(items) > _COUNTED_AT_A_GLANCE else ""
            return f"[{count}{'; '.join(brief(item, levels=levels - 1) for item in items)}]"
        case _:
            return json.dumps(value, ensure_ascii=False)
