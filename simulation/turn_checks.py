"""Quality checks on every customer turn: pure functions that say what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from .acts import pending_question
from .grounding import CURLY, invented, revealed
from .hard_terms import given_up
from .open_errands import open_errands, scenario_by_now
from .scenario import Scenario
from .trajectory import StopReason, Trajectory
from .turn_signs import ERROR_TEXT, LEAKED_REASONING, ROLE_FLIP, found, own_words
from .user import Say, Stop, UserMove

VERSION = 1
"""Part of every conversation's journal key: a change of the checks may change conversations."""

CUSTOMERS_REASONS = frozenset(
    {
        StopReason.SATISFIED,
        StopReason.GAVE_UP,
        StopReason.REFUSED,
        StopReason.OUT_OF_SCOPE,
        StopReason.SCRIPT_ENDED,
    }
)
"""For what a customer can leave; everything else is for the conversation itself to say."""

_SHORT = 6


@dataclass(frozen=True, slots=True)
class TurnProblem:
    """Why a customer's turn cannot be used.

    Attributes:
        kind: A short stable code, such as `role_flip`.
        said: What is wrong, as an objection to whoever wrote the turn.
    """

    kind: str
    said: str


def problem_with(move: UserMove, so_far: Trajectory, scenario: Scenario) -> TurnProblem | None:
    """Return the first thing that is wrong with a turn, or None.

    Args:
        move: The turn.
        so_far: The conversation before it.
        scenario: What the customer wants and knows.
    """
    if isinstance(move, Stop):
        said = premature_stop(move.reason, so_far, scenario)
        return TurnProblem("premature_stop", said) if said else None
    typed = replace(move, message=move.message.replace(CURLY, "'"))
    objections = ((kind, check(typed, so_far, scenario)) for kind, check in MESSAGE_CHECKS)
    return next((TurnProblem(kind, said) for kind, said in objections if said), None)


def empty(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to a message without a word."""
    return "" if re.search(r"\w", move.message) else "the message is empty"


def error_text(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to an error, or a model's refusal, in place of a message."""
    sign = _sign(ERROR_TEXT, own_words(move.message), scenario)
    return f"'{sign}' is an error or a refusal, not a customer's message" if sign else ""


def leaked_reasoning(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to thoughts, labels, markup and stage directions."""
    sign = _sign(LEAKED_REASONING, move.message, scenario)
    return f"'{sign}' is not something a customer types; write only the message" if sign else ""


def role_flip(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to a customer who speaks as the assistant."""
    sign = _sign(ROLE_FLIP, own_words(move.message), scenario)
    return f"'{sign}' is what the assistant would say; you are the customer" if sign else ""


def repeated(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to what the customer said before.

    Short messages come up again in any conversation: `Yes, please.`, `How much is it?`. One of
    those must only not follow itself, unless a question asks for it.
    """
    words = _words(move.message)
    earlier = so_far.turns
    if len(words) <= _SHORT:
        earlier = () if pending_question(so_far) else so_far.turns[-1:]
    if any(words == _words(turn.message) for turn in earlier):
        return "you said just the same before; say it in other words, or go on"
    return ""


def revealed_unknown(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to a fact that the scenario says the customer does not know.

    Once the assistant or its screen has said it, it is no secret.
    """
    fact = revealed(move.message, scenario, so_far)
    return f"you do not know your {fact.name}; say so when you are asked for it" if fact else ""


def invented_fact(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to amounts, measures and names that neither scenario nor conversation mention."""
    unheard = invented(move.message, scenario, so_far)
    return (
        f"'{unheard}' was never mentioned; say only what you know or have seen" if unheard else ""
    )


def contradiction(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to giving up what is never given up, in general or by taking an item."""
    return given_up(move, so_far, scenario)


def premature_stop(reason: StopReason, so_far: Trajectory, scenario: Scenario) -> str:
    """Object to leaving too early: unheard, with an answer owed, or content with a promise."""
    if reason not in CUSTOMERS_REASONS:
        return f"a customer does not leave for the reason '{reason}'"
    if not so_far.turns:
        return "you have said nothing yet; say what you want"
    if reason is StopReason.SCRIPT_ENDED:
        return ""
    if question := pending_question(so_far):
        return f"the assistant is waiting for an answer to '{question}'; answer it"
    if reason is StopReason.SATISFIED:
        return _not_done(so_far, scenario)
    return ""


def _sign(signs: re.Pattern[str], text: str, scenario: Scenario) -> str:
    """Return a sign that somebody else is speaking.

    What the scenario has the customer say is none: one who tries to talk the assistant into
    something may well speak of roles and instructions.
    """
    hits = found(signs, text)
    script = scenario.model_dump_json(exclude_none=True).casefold() if hits else ""
    return next((hit for hit in hits if hit.casefold() not in script), "")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _not_done(so_far: Trajectory, scenario: Scenario) -> str:
    missing = open_errands(scenario_by_now(scenario, so_far), so_far)
    return f"you are not done, whatever was promised: {'; '.join(missing)}" if missing else ""


MessageCheck = Callable[[Say, Trajectory, Scenario], str]
MESSAGE_CHECKS: tuple[tuple[str, MessageCheck], ...] = (
    ("empty", empty),
    ("error_text", error_text),
    ("leaked_reasoning", leaked_reasoning),
    ("role_flip", role_flip),
    ("repeated", repeated),
    ("revealed_unknown", revealed_unknown),
    ("invented_fact", invented_fact),
    ("contradiction", contradiction),
)
"""Kinds of problem and the checks that find them, in the order in which they are tried."""
