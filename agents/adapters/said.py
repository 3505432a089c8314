"""What an agent's output says to the customer."""

from __future__ import annotations

import json
from typing import Any

from ..recording import as_json


def said(output: Any) -> str:
    """Return a text as it is, and structured output as JSON."""
    return output if isinstance(output, str) else json.dumps(as_json(output), ensure_ascii=False)
