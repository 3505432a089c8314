"""The simulated preference handler: reads standing facts out of a message.

Remembering what is said outright needs no telling; forgetting, recalling and facts that are
only implied are switched on by the prompt.
"""

from __future__ import annotations

import re
from typing import Any

from .. import wishes
from ..call import Call
from ..words import singular

_ALLERGY = re.compile(r"\ballerg\w+ (?:to|against) (?:all )?([\w-]+)|\b([\w-]+) allergy\b", re.I)
_HOUSEHOLD = re.compile(r"\b(\w+) (?:people|persons|of us)\b", re.I)
_BUDGET = re.compile(r"\b(?:budget|cheapest|spend (?:at most|no more)|save money)\b", re.I)
_FAVOURITE = re.compile(r"\b(?:always|only|favou?rite|prefer|must be|never)\b", re.I)
_RECALL = re.compile(r"\b(?:what do you|what have you|which .* noted|know about (?:me|us))\b", re.I)
_FORGET = re.compile(r"\b(?:forget|delete|remove|no longer|not .* any ?more)\b", re.I)


def prefer(call: Call) -> dict[str, Any]:
    """Return what to remember, forget or recall."""
    message = call.string("message")
    if _RECALL.search(message) and call.instructions.mention("recall", "asks what", "known"):
        return {"changes": [{"action": "recall", "kind": "other", "value": ""}]}
    forgets = _FORGET.search(message) and call.instructions.mention("forget", "delet", "remov")
    action = "forget" if forgets else "remember"
    implied = call.instructions.mention("impl", "follows from")
    facts = _facts(message, implied=implied)
    if not facts and message.strip():
        facts = [("other", message.strip())]
    return {"changes": [{"action": action, "kind": kind, "value": value} for kind, value in facts]}


def _facts(message: str, *, implied: bool) -> list[tuple[str, str]]:
    facts = [("diet", diet) for diet in wishes.diets(message, implied=implied)]
    facts += [
        ("allergy", singular((match[1] or match[2]).lower()))
        for match in _ALLERGY.finditer(message)
    ]
    if match := _HOUSEHOLD.search(message):
        people = wishes.number(match[1].lower())
        facts += [("household", f"{people:g}")] if people else []
    if _FAVOURITE.search(message):
        named = {"brand": wishes.brand(message), "store": wishes.store(message)}
        facts += [(kind, value) for kind, value in named.items() if value]
    if _BUDGET.search(message):
        facts.append(("budget", message.strip()))
    return facts
