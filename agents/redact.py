"""Takes secrets out of what is written down or shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

_CREDENTIALS = re.compile(r'//[^/\s"]+@')
_SECRET_PARAMETERS = re.compile(
    r'([?&;#][^?&;#=\s"]*(?:key|token|secret|passw|pwd|auth|credential|signature|\bsig)'
    r'[^?&;#=\s"]*=)[^&;#\s"\']+',
    re.IGNORECASE,
)
_SECRET_NAMES = ("_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN")
_SHORTEST_SECRET = 8  # a shorter value is a setting, and would be found inside ordinary words


def public(text: str) -> str:
    """Take user names, passwords and parameters such as `api_key=` out of addresses in a text."""
    return _SECRET_PARAMETERS.sub(r"\1…", _CREDENTIALS.sub("//…@", text))


def public_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Do so in every text of a JSON object."""
    return {name: _public_value(value) for name, value in values.items()}


def _public_value(value: Any) -> Any:
    match value:
        case str():
            return public(value)
        case Mapping():
            return public_json(value)
        case list() | tuple():
            return [_public_value(one) for one in value]
        case _:
            return value


def without_keys(text: str, variable: str | None = None) -> str:
    """Replace every key that the environment holds by `***`.

    Providers quote what they were sent, and a model without a variable of its own takes its
    key from the provider's, such as OPENAI_API_KEY.

    Args:
        text: What somebody else wrote.
        variable: A variable that holds a key, whatever its name and length.
    """
    keys = {
        value
        for name, value in os.environ.items()
        if value and (name == variable or _is_secret(name, value))
    }
    for key in sorted(keys, key=len, reverse=True):
        text = text.replace(key, "***")
    return text


def _is_secret(name: str, value: str) -> bool:
    return name.upper().endswith(_SECRET_NAMES) and len(value) >= _SHORTEST_SECRET
