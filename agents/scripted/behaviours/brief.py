"""The simulated briefer: hands on the message, and what else its prompt says to pass on."""

from __future__ import annotations

import re
from typing import Any

from ..call import Call


def brief(call: Call) -> dict[str, Any]:
    """Return the hand-off."""
    told = call.instructions
    parts = [call.string("message")]
    history = call.string("history").strip()
    if history and told.mention("history", "earlier", "conversation", "context"):
        parts.append(f"Before: {history.splitlines()[-1]}")
    preferences = call.string("preferences").strip()
    if _says_something(preferences) and told.mention("prefer", "diet", "allerg", "remember"):
        parts.append(f"Known about the customer: {preferences}")
    return {"brief": "\n".join(parts)}


def _says_something(text: str) -> bool:
    return bool(text) and not re.fullmatch(r"(?:none|nothing|\[\]|\{\})\.?", text.lower())
