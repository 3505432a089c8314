"""cotune's model as the model of a DSPy program, synchronous calls included."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, replace

import dspy
from dspy.lm15 import Request, Response

from ..ledger import charged_to
from ..lm import LanguageModel
from .seeds import Seeds


def conversation_lm(lm: LanguageModel, seeds: Seeds, agent: Callable[[], str]) -> dspy.LM:
    """Return a `dspy.LM` whose calls pass our model's retries, budget and ledger.

    It belongs to the event loop, and the turn of a conversation, in which it is made. A program
    may call it from threads of its own.

    Args:
        lm: Our model.
        seeds: Where each call's sampling seed is drawn from.
        agent: Says which agent is at work.
    """
    turn = _Turn(lm, seeds, agent, asyncio.get_running_loop(), copy_context())
    return dspy.LM(
        lm.model,
        cache=False,
        num_retries=0,
        engine=_Engine(turn),
        async_engine=_AsyncEngine(turn),
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    lm: LanguageModel
    seeds: Seeds
    agent: Callable[[], str]
    loop: asyncio.AbstractEventLoop
    context: Context

    async def respond(self, request: Request, agent: str) -> Response:
        with charged_to(agent=agent):
            return await self.lm.respond(self._seeded(request))

    def _seeded(self, request: Request) -> Request:
        if request.config.seed is not None:
            return request
        seed = self.seeds.draw([message.text for message in request.messages])
        return replace(request, config=replace(request.config, seed=seed))


class _Engine:
    """Makes a thread wait for the event loop to answer."""

    def __init__(self, turn: _Turn) -> None:
        self._turn = turn
        self.supports_function_calling = turn.lm.supports_function_calling
        self.supports_reasoning = turn.lm.supports_reasoning
        self.supports_response_schema = turn.lm.supports_response_schema
        self.supported_params = turn.lm.supported_params

    def complete(self, request: Request) -> Response:
        """Answer one request."""
        asked = self._turn.respond(request, self._turn.agent())
        # A thread of the program's own knows nothing of the turn it works for.
        context = self._turn.context.copy()
        return context.run(asyncio.run_coroutine_threadsafe, asked, self._turn.loop).result()


class _AsyncEngine:
    def __init__(self, turn: _Turn) -> None:
        self._turn = turn

    async def complete(self, request: Request) -> Response:
        """Answer one request."""
        return await self._turn.respond(request, self._turn.agent())
