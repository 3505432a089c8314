"""Conversations: a customer talks to the assistant, and a trajectory comes of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ..agents.assistant import Assistant
from ..agents.errors import CotuneError, Fault, FaultError, FaultOrigin
from ..agents.prompts import PromptBundle
from .scenario import Scenario
from .trajectory import StopReason, Trajectory, Turn

_log = logging.getLogger(__name__)


async def converse(
    assistant: Assistant, prompts: PromptBundle, scenario: Scenario, messages: Sequence[str]
) -> Trajectory:
    """Play a customer who says these messages whatever the assistant answers.

    Args:
        assistant: Who is talked to.
        prompts: What its agents are told.
        scenario: Where the world starts.
        messages: What the customer says, one message per turn.

    Returns:
        The conversation. It stops with `SCRIPT_ENDED` after the last message, or with `FAULT`
        as soon as a message gets no answer; the turns before it are kept, and `metadata` has
        that message as `unanswered`.

    Raises:
        CotuneError: No conversation can succeed, for example because the budget is spent.
    """
    session = assistant.start(prompts, scenario.initial_state)
    initial = session.state()
    turns: list[Turn] = []
    for message in messages:
        try:
            reply = await session.reply(message)
            turns.append(Turn(message, reply, session.state()))
        except Exception as error:
            fault = _fault(error)
            return Trajectory(
                scenario.id, tuple(turns), initial, StopReason.FAULT, fault, {"unanswered": message}
            )
    return Trajectory(scenario.id, tuple(turns), initial, StopReason.SCRIPT_ENDED)


def _fault(error: Exception) -> Fault:
    """Return whose fault it is; what ends the whole run is raised on."""
    if isinstance(error, FaultError):
        return error.fault
    if isinstance(error, CotuneError):
        raise error
    # A defect of the assistant's code says nothing about its prompts, so it is not its score.
    _log.error("the assistant's code failed", exc_info=error)
    said = f"the assistant's code raised {type(error).__name__}: {error}"
    return Fault(FaultOrigin.INFRASTRUCTURE, "crash", said)
