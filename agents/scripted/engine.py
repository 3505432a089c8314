"""The door of the simulation: an engine for `dspy.LM` that answers without a model.

This is a simulation, made for tests and for a tour without a download. It simulates an agent
whose answers depend on which instructions and worked examples its prompt contains, and a
provider that fails as configured. It sees what a language model would be sent (prompt,
messages, output schema) and nothing else: no gold, no catalogue, no files. Its numbers say
that the machinery works, and nothing about any language model.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from dspy.clients.engines.base import validate_request
from dspy.lm15 import Message, Request, Response, Usage, response_to_events

from ..fingerprint import fingerprint
from .behaviours import behaviour_for
from .call import Call, system_text
from .chance import draw
from .faults import Answer, refusal, spoiled
from .settings import ScriptedSettings

CHARACTERS_PER_TOKEN = 4
_NOTHING_TO_SAY = "This is a simulation; without an output schema it has nothing to say."


class ScriptedEngine:
    """Answers a request by rules, deterministically.

    Equal requests get equal answers, whatever was asked before or meanwhile; only whether an
    attempt is refused depends on how often the same request was sent before.
    """

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"temperature", "max_tokens", "seed", "response_format"})

    def __init__(self, settings: ScriptedSettings) -> None:
        self.settings = settings
        self._times_seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Build the engine that a model string asks for, such as `grocery?noise=0.1&seed=3`.

        Raises:
            UsageError: The name, a setting or a value is not known.
        """
        return cls(ScriptedSettings.parse(text))

    def complete(self, request: Request) -> Response:
        """Answer one request.

        Raises:
            LM15Error: The attempt was drawn to fail.
        """
        time.sleep(self.latency)
        return self.answer(request)

    def stream(self, request: Request) -> Iterator[Any]:
        """Answer as a stream of events."""
        return iter(response_to_events(self.complete(request)))

    def close(self) -> None:
        """Nothing is open."""

    @property
    def latency(self) -> float:
        """Seconds an answer takes."""
        return self.settings.latency_ms / 1000

    def answer(self, request: Request) -> Response:
        """Answer one request without waiting; see `complete`."""
        validate_request(request)
        content = _content(request)
        if self.settings.refuses:
            self._perhaps_refuse(content)
        answer = spoiled(self.settings, content, self._say(request, content))
        return _response(request, _within_limit(answer, request.config.max_tokens))

    def _perhaps_refuse(self, content: str) -> None:
        with self._lock:
            times_seen = self._times_seen[content]
            self._times_seen[content] += 1
        error = refusal(self.settings, content, times_seen)
        if error is not None:
            raise error

    def _say(self, request: Request, content: str) -> str:
        if not request.config.response_format:
            return _NOTHING_TO_SAY
        behaviour = behaviour_for(request)
        call = Call.of(request, behaviour.inputs)
        said = behaviour.answer(call)
        if draw("noise", self.settings.seed, content) < self.settings.noise:
            said = behaviour.slip(call, said, f"{self.settings.seed} {content}")
        return json.dumps(said, ensure_ascii=False)


class AsyncScriptedEngine:
    """The same, for asynchronous calls."""

    supports_response_schema = True

    def __init__(self, engine: ScriptedEngine) -> None:
        self.engine = engine

    async def complete(self, request: Request) -> Response:
        """Answer one request; see `ScriptedEngine.complete`."""
        await asyncio.sleep(self.engine.latency)
        return self.engine.answer(request)

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Answer as a stream of events."""
        for event in response_to_events(await self.complete(request)):
            yield event

    async def aclose(self) -> None:
        """Nothing is open."""


def tokens(text: str) -> int:
    """Estimate the tokens of a text, as a tokenizer of four characters a token would count."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def _content(request: Request) -> str:
    """Fingerprint what determines an answer."""
    config = request.config
    return fingerprint(
        {
            "system": system_text(request),
            "messages": [[message.role, message.text or ""] for message in request.messages],
            "format": config.response_format,
            "temperature": config.temperature,
            "max_tokens": config.max_tokens,
            "seed": config.seed,
        }
    )


def _within_limit(answer: Answer, max_tokens: int | None) -> Answer:
    if max_tokens is None or tokens(answer.text) <= max_tokens:
        return answer
    return Answer(answer.text[: max_tokens * CHARACTERS_PER_TOKEN], "length")


def _response(request: Request, answer: Answer) -> Response:
    read = [system_text(request), *(message.text or "" for message in request.messages)]
    return Response(
        id=None,
        model=request.model,
        message=Message.assistant(answer.text),
        finish_reason=answer.finish_reason,
        usage=Usage(
            input_tokens=sum(tokens(text) for text in read), output_tokens=tokens(answer.text)
        ),
    )
