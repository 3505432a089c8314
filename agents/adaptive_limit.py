"""How many calls a provider is sent at once: fewer when it refuses, more while it answers."""

from __future__ import annotations

import asyncio
import re
from collections import deque

from .models import ModelSettings


class AdaptiveLimit:
    """Slots for the calls to one provider, whoever makes them.

    The number of slots follows additive increase and multiplicative decrease, as in TCP's
    congestion control (Chiu and Jain, 1989): a round of answers as long as the limit adds one, a
    refusal halves it. Refusals of calls that started before the last halving are old news and
    halve nothing, so there is at most one decrease per round trip. When a provider says how long
    to wait, nobody's call starts before that. Slots are given in the order they were asked for.
    """

    def __init__(self, most: int) -> None:
        """Allow `most` calls at once, until the provider refuses one."""
        self._most = most
        self._allowed = float(most)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resume_at = 0.0
        self._round = 0

    @property
    def allowed(self) -> int:
        """Calls that may be in flight now; at least one."""
        return int(self._allowed)

    @property
    def in_flight(self) -> int:
        """Slots that are taken."""
        return self._in_flight

    def raise_to(self, most: int) -> None:
        """Allow at least `most` calls at once; for another model of the same provider."""
        if most > self._most:
            self._most = most
            self._allowed = float(most)

    async def acquire(self) -> int:
        """Wait for a slot and for the end of a pause; `release` must follow.

        Returns:
            The round in which the call starts, for `answered` or `refused`.
        """
        if self._waiting or not self._has_room:
            await self._turn()
        else:
            self._in_flight += 1
        try:
            # Slots kept through a pause harm nobody: until it ends no call may start.
            loop = asyncio.get_running_loop()
            while (pause := self._resume_at - loop.time()) > 0:  # noqa: ASYNC110 - it may move
                await asyncio.sleep(pause)
        except BaseException:
            self.release()
            raise
        return self._round

    def release(self) -> None:
        """Give a slot back."""
        self._in_flight -= 1
        self._admit()

    def answered(self, round_: int) -> None:
        """Learn from an answer to a call that started in `round_`."""
        if round_ == self._round and self._allowed < self._most:
            self._allowed = min(self._allowed + 1 / self._allowed, self._most)

    def refused(self, round_: int, retry_after: float | None) -> None:
        """Learn from a refusal of a call that started in `round_`.

        Args:
            round_: What `acquire` returned.
            retry_after: Seconds the provider wants to be left alone, where it says so.
        """
        if round_ == self._round:
            self._round += 1
            self._allowed = max(1.0, self._allowed / 2)
        if retry_after is not None:
            resume_at = asyncio.get_running_loop().time() + retry_after
            self._resume_at = max(self._resume_at, resume_at)

    @property
    def _has_room(self) -> bool:
        return self._in_flight < self.allowed

    async def _turn(self) -> None:
        """Wait in line; whoever is admitted has its slot already."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # admitted and cancelled in the same step
                self.release()
            raise

    def _admit(self) -> None:
        while self._waiting and self._has_room:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)


class ProviderLimits:
    """One limit per provider, shared by all models that speak to it."""

    def __init__(self) -> None:
        self._limits: dict[str, AdaptiveLimit] = {}

    def of(self, settings: ModelSettings, endpoint: str | None = None) -> AdaptiveLimit:
        """Return the limit for a model's provider; the largest `concurrency` of its models holds.

        Args:
            settings: The model.
            endpoint: Address of the server that a `local:` model runs on.
        """
        address = endpoint or settings.api_base or re.split("[:/]", settings.model, maxsplit=1)[0]
        limit = self._limits.setdefault(address, AdaptiveLimit(settings.concurrency))
        limit.raise_to(settings.concurrency)
        return limit
