"""The simulated responder: tells the customer what happened, and little else.

It reports the events it is given. Without events it answers a greeting, declines what has
nothing to do with shopping, and otherwise asks what is meant.
"""

from __future__ import annotations

from typing import Any

from ..call import Call
from .route import heard


def respond(call: Call) -> dict[str, Any]:
    """Return the reply."""
    events = [str(event) for event in call.items("events")]
    if events:
        reply = " ".join(_sentence(event) for event in events)
        asks = call.instructions.mention("ask", "offer", "next")
        return {"reply": f"{reply} Is there anything else you need?" if asks else reply}
    return {"reply": _without_events(heard(call.string("message")))}


def _without_events(ideas: frozenset[str]) -> str:
    if "off_topic" in ideas:
        return "I'm sorry, I can only help with groceries."
    if "complaint" in ideas:
        return "I'm sorry about that. I will pass it on to the team."
    if "service" in ideas:
        return "Please see the service page for delivery, returns and payment."
    if "smalltalk" in ideas:
        return "Hello! What can I get for you?"
    return "Could you tell me a little more about what you need?"


def _sentence(event: str) -> str:
    event = event.strip()
    return event if event.endswith((".", "!", "?")) else f"{event}."
