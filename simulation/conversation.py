"""Conversations: a customer talks to the assistant, and a trajectory comes of it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..agents.assistant import Assistant, Session
from ..agents.counted import counted
from ..agents.errors import CotuneError, Fault, FaultError, FaultOrigin
from ..agents.prompts import PromptBundle
from .scenario import Scenario
from .trajectory import StopReason, Trajectory, Turn
from .turn_checks import problem_with
from .user import Say, User, UserKind, UserMove

_log = logging.getLogger(__name__)


class ConversationLimits(BaseModel):
    """How long one conversation may go on.

    Attributes:
        turns: Customer turns; the conversation then stops with `TURN_LIMIT`.
        turn_seconds: For one reply of the assistant, retries included.
        seconds: For the whole conversation.
        attempts: Attempts at one customer turn before it is a fault of the simulator.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    turns: int = Field(default=12, ge=1)
    turn_seconds: float = Field(default=300.0, gt=0)
    seconds: float = Field(default=1800.0, gt=0)
    attempts: int = Field(default=3, ge=1)

    @property
    def identity(self) -> Mapping[str, Any]:
        """What of the limits determines a conversation, JSON; too little time makes it a fault."""
        return self.model_dump(include={"turns", "attempts"})


async def converse(
    assistant: Assistant,
    prompts: PromptBundle,
    scenario: Scenario,
    users: UserKind,
    seed: int = 0,
    limits: ConversationLimits | None = None,
) -> Trajectory:
    """Play one conversation.

    It is a function of its arguments alone, so any number may run side by side in any order.

    Args:
        assistant: Who is talked to.
        prompts: What its agents are told.
        scenario: What the customer wants, and where the world starts.
        users: Who plays the customer.
        seed: From which the customer's wording and every sampling seed are derived.
        limits: How long it may go on.

    Returns:
        The conversation. It stops for the customer's reason, at the turn limit, or with `FAULT`
        as soon as somebody cannot go on; the turns before a fault are kept, and `metadata` has
        the message that got no answer as `unanswered` and the number of refused attempts at
        customer turns, by kind, as `turn_problems`.

    Raises:
        CotuneError: No conversation can succeed, for example because the budget is spent.
        UsageError: Assistant or customer cannot play the scenario.
    """
    session = assistant.start(prompts, scenario.initial_state, seed)
    user = users.start(scenario, seed)
    play = _Play(scenario, session, user, limits or ConversationLimits(), session.state())
    try:
        async with asyncio.timeout(play.limits.seconds):
            stop = await play.to_the_end()
    except TimeoutError:
        said = f"the conversation was not over after {play.limits.seconds:g} s"
        return play.broken(Fault(FaultOrigin.INFRASTRUCTURE, "conversation_timeout", said))
    except FaultError as error:
        return play.broken(error.fault)
    return play.trajectory(stop)


@dataclass(slots=True)
class _Play:
    """A conversation while it is played."""

    scenario: Scenario
    session: Session
    user: User
    limits: ConversationLimits
    initial_state: Mapping[str, Any]
    turns: list[Turn] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    unanswered: str = ""

    async def to_the_end(self) -> StopReason:
        while len(self.turns) < self.limits.turns:
            move = await self._move()
            if not isinstance(move, Say):
                return move.reason
            await self._exchange(move)
        # The last word is the customer's: they may be content at the very limit.
        move = await self._move()
        return StopReason.TURN_LIMIT if isinstance(move, Say) else move.reason

    def trajectory(self, stop: StopReason = StopReason.OPEN) -> Trajectory:
        metadata = {"turn_problems": dict(self.problems)} if self.problems else {}
        return Trajectory(
            self.scenario.id, tuple(self.turns), self.initial_state, stop, None, metadata
        )

    def broken(self, fault: Fault) -> Trajectory:
        ended = self.trajectory(StopReason.FAULT)
        unanswered = {"unanswered": self.unanswered} if self.unanswered else {}
        return replace(ended, fault=fault, metadata={**ended.metadata, **unanswered})

    async def _exchange(self, move: Say) -> None:
        self.unanswered = move.message
        try:
            async with asyncio.timeout(self.limits.turn_seconds):
                reply = await self.session.reply(move.message)
        except TimeoutError as error:
            said = f"the assistant gave no reply within {self.limits.turn_seconds:g} s"
            fault = Fault(FaultOrigin.INFRASTRUCTURE, "turn_timeout", said)
            raise FaultError(fault) from error
        except CotuneError:
            raise
        except Exception as error:
            raise FaultError(_defect("the assistant's code", error)) from error
        self.turns.append(Turn(move.message, reply, self.session.state(), move.notes))
        self.unanswered = ""

    async def _move(self) -> UserMove:
        """Return a customer's turn that is sound, asking again where it is not."""
        so_far = self.trajectory()
        objections: list[str] = []
        kind = ""
        for _ in range(self.limits.attempts):
            move = await self._attempt(so_far, objections)
            problem = problem_with(move, so_far, self.scenario)
            if problem is None:
                return move
            self.problems[problem.kind] += 1
            objections.append(problem.said)
            kind = problem.kind
        times = counted(len(objections), "time")
        said = f"the simulated customer failed {times}: {objections[-1]}"
        raise FaultError(Fault(FaultOrigin.USER, kind, said))

    async def _attempt(self, so_far: Trajectory, objections: list[str]) -> UserMove:
        try:
            return await self.user.next(so_far, tuple(objections))
        except FaultError as error:
            fault = error.fault
            if fault.origin is FaultOrigin.ASSISTANT:  # a model's own failure, here the customer's
                fault = replace(fault, origin=FaultOrigin.USER)
            raise FaultError(fault) from error
        except CotuneError:
            raise
        except Exception as error:
            raise FaultError(_defect("the simulated customer's code", error)) from error


def _defect(where: str, error: Exception) -> Fault:
    """A defect of code says nothing about prompts, so it is nobody's score."""
    _log.error("%s failed", where, exc_info=error)
    said = f"{where} raised {type(error).__name__}: {error}"
    return Fault(FaultOrigin.INFRASTRUCTURE, "crash", said)
