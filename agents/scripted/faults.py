"""Faults as providers and models have them, drawn from what is asked and never from the clock.

Refusals (429, 500, timeout) are drawn per attempt, so that a retry of the same request gets
another draw and mostly succeeds. Spoiled answers (cut off, not JSON, empty) are drawn per
request, so that what a request is answered never depends on how often it was sent before: a
run that is killed and resumed reads the same answers. Asking again in other words or with
another seed is what helps against those, as with a real model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dspy.lm15 import LM15Error, RateLimitError, ServerError, TimeoutError

from .chance import draw
from .settings import ScriptedSettings

RETRY_AFTER = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """A text as a model ends it: `stop` when it said all, `length` when it was cut off."""

    text: str
    finish_reason: Literal["stop", "length"] = "stop"


def refusal(settings: ScriptedSettings, content: str, times_seen: int) -> LM15Error | None:
    """Return how this attempt fails, or None when it is answered.

    Args:
        settings: The probabilities and the seed.
        content: Fingerprint of the request.
        times_seen: How often this same request was sent before.
    """
    drawn = draw("refusal", settings.seed, content, times_seen)
    if drawn < (upto := settings.rate_limit):
        return RateLimitError(
            "simulated: too many requests", provider="scripted", status=429, retry_after=RETRY_AFTER
        )
    if drawn < (upto := upto + settings.server_error):
        return ServerError("simulated: internal error", provider="scripted", status=500)
    if drawn < upto + settings.timeout:
        return TimeoutError("simulated: no answer in time", provider="scripted", status=504)
    return None


def spoiled(settings: ScriptedSettings, content: str, text: str) -> Answer:
    """Return the answer, perhaps cut off, wrapped in prose or lost; see the module."""
    drawn = draw("spoiled", settings.seed, content)
    if drawn < (upto := settings.truncated):
        return Answer(text[: len(text) // 2], "length")
    if drawn < (upto := upto + settings.invalid_json):
        return Answer(f"Sure, here it is: {text.removesuffix('}')}")
    if drawn < upto + settings.empty:
        return Answer("")
    return Answer(text)
