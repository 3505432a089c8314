"""Takes secrets out of what is written down or shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_CREDENTIALS = re.compile(r'//[^/@\s"]+@')


def public(text: str) -> str:
    """Take user names and passwords out of the addresses in a text."""
    return _CREDENTIALS.sub("//…@", text)


def public_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Do so in every text of a JSON object."""
    return json.loads(public(json.dumps(values, ensure_ascii=False)))
