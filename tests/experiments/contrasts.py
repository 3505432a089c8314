"""Conversations of a test, before and after, made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cotune.experiments.contrast import BlameRecord, Contrast, Judged

NASTY = (
    "</script><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\">",
    "W" * 900,
    "שלום, חלב בבקשה. مرحبا، أريد حليبا.",
    "👩‍👩‍👧‍👦 🥛",
    "\u202eevil\u202c {{ 7 * 7 }} <!-- ",
)
"""What customers and models may say, and a page must not fall for."""
EMPTY: dict[str, Any] = {"cart": []}


def verdict(criterion: str, value: float, *evidence: str, rationale: str = "") -> dict[str, Any]:
    """Return a verdict as a contrast keeps it."""
    return {
        "criterion": criterion,
        "value": value,
        "status": "scored",
        "rationale": rationale,
        "evidence": list(evidence),
        "agent": None,
        "turn": None,
        "confidence": None,
        "pass_probability": None,
    }


def judged(
    score: float,
    turns: Iterable[tuple[str, str]],
    verdicts: Iterable[dict[str, Any]] = (),
    blames: Iterable[BlameRecord] = (),
) -> Judged:
    """Return a conversation of which every turn was answered by `router` and `cart`."""
    calls = [
        {"call": "agent", "agent": agent, "inputs": {}, "outputs": {}}
        for agent in ("router", "cart", "router")
    ]
    trajectory = {
        "version": 1,
        "scenario": "milk-1",
        "initial_state": EMPTY,
        "stop": "gave_up",
        "turns": [
            {"message": message, "reply": {"text": reply, "calls": calls}, "state": EMPTY}
            for message, reply in turns
        ],
    }
    return Judged(
        score=score, trajectory=trajectory, verdicts=tuple(verdicts), blames=tuple(blames)
    )


def contrast(before: Judged, after: Judged, goal: str = "A litre of milk.") -> Contrast:
    """Return a contrast of two conversations."""
    return Contrast(
        scenario="milk-1", family="milk", goal=goal, repeat=0, before=before, after=after
    )


def blame(criterion: str, agent: str, turn: int | None = None, reason: str = "") -> BlameRecord:
    """Return the blame for a criterion."""
    return BlameRecord(criterion=criterion, agent=agent, share=1.0, reason=reason, turn=turn)
