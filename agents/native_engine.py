"""dspy's own client, asked directly: a request goes out as it is, in this event loop.

`dspy.LM.acall` prepares every call in a worker thread, plans it, chooses the provider again and
looks its price up. For text, which is all that cotune sends, that takes as long as the call
itself. Retries, timeouts, prices and the record of calls are `LanguageModel`'s.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Protocol

import dspy
from dspy.clients.backend_selection import BackendSelection, select_backend
from dspy.clients.engines.lm15_engine import timeouts_for
from dspy.clients.errors import error_boundary
from dspy.lm15 import AsyncLMRouter, Request, Response, RouterConfig


class AsyncEngine(Protocol):
    """Answers one request, once; see `dspy.clients.engines.AsyncEngine`."""

    async def complete(self, request: Request) -> Response:
        """Answer a request.

        Raises:
            LM15Error: There is no answer.
        """
        ...

    async def aclose(self) -> None:
        """Close what this event loop has open."""
        ...


@dataclass(frozen=True, slots=True)
class _Client:
    """What one event loop talks to the provider with; connections belong to their loop."""

    loop: asyncio.AbstractEventLoop
    router: AsyncLMRouter
    provider: Any


class NativeEngine:
    """One provider's client, with as many connections as calls may be in flight."""

    def __init__(self, selection: BackendSelection, connections: int) -> None:
        """Connect to nothing yet.

        Args:
            selection: The provider and the settings of its client, as dspy chose them.
            connections: Open at a time, at most.
        """
        resolution: Any = selection.resolution
        name, settings = resolution.provider, selection.clients
        self._route = f"{name}:{resolution.model}"
        self._model = resolution.model
        self._config = RouterConfig(
            api_keys={name: settings["api_key"]} if "api_key" in settings else None,
            base_urls={name: settings["api_base"]} if "api_base" in settings else None,
            timeouts=timeouts_for(settings.get("timeout")),
            max_connections=connections,
        )
        self._client: _Client | None = None

    @classmethod
    def of(cls, lm: dspy.LM, connections: int) -> NativeEngine | None:
        """Return the engine of a model, or None where dspy would leave it to LiteLLM."""
        with error_boundary(lm.model):
            selection = select_backend(lm)
        return cls(selection, connections) if selection.native else None

    async def complete(self, request: Request) -> Response:
        """Answer a request; see `AsyncEngine.complete`."""
        client = self._client
        if client is None or client.loop is not asyncio.get_running_loop():
            client = self._client = await self._connected()
        return await client.provider.complete(replace(request, model=self._model))

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        client, self._client = self._client, None
        if client is not None and client.loop is asyncio.get_running_loop():
            await client.router.aclose()

    async def _connected(self) -> _Client:
        router = AsyncLMRouter(self._config)
        # It may read a stored login, or ask a cloud for one.
        provider = await asyncio.to_thread(router.lm, self._route)
        return _Client(asyncio.get_running_loop(), router, provider)
