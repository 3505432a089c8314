"""The wire tap: what is really sent to models, whichever client sends it.

Frameworks bring clients of their own, and nearly all of them send through httpx or its successor.
While the tap is open, every request that passes there, and every one to a model of cotune's, is
kept as text.
It is for the doctor's few calls alone: nothing of it is in the way of a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

_CLIENTS = ("httpx", "httpx2")  # OpenAI's own client uses the second
_label: ContextVar[str] = ContextVar("cotune_tapped", default="")


@dataclass(frozen=True, slots=True)
class Sent:
    """One request.

    Attributes:
        label: Of the part of the examination in which it was sent.
        text: Its body.
    """

    label: str
    text: str


@dataclass(slots=True)
class WireTap(BaseCallback):
    """Keeps what is sent.

    Attributes:
        sent: The requests, in order.
    """

    sent: list[Sent] = field(default_factory=list)

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Keep a request to a model of ours; see dspy's callbacks."""
        self._keep(repr(inputs))

    def texts(self, label: str) -> list[str]:
        """Return what was sent in one part of the examination."""
        return [each.text for each in self.sent if each.label == label]

    def _keep(self, text: str) -> None:
        self.sent.append(Sent(_label.get(), text))

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Listen to what is sent inside."""
        with ExitStack() as stack:
            for name in _CLIENTS:
                if find_spec(name) is not None:
                    stack.enter_context(self._listening(import_module(name)))
            stack.enter_context(dspy.context(callbacks=[*dspy.settings.get("callbacks", []), self]))
            yield

    @contextmanager
    def _listening(self, http: Any) -> Iterator[None]:
        """Stand between a library's clients and their transports."""
        plain, awaited = http.Client.send, http.AsyncClient.send

        def send(client: Any, request: Any, **kwargs: Any) -> Any:
            self._keep(_body(http, request))
            return plain(client, request, **kwargs)

        async def send_async(client: Any, request: Any, **kwargs: Any) -> Any:
            self._keep(_body(http, request))
            return await awaited(client, request, **kwargs)

        http.Client.send, http.AsyncClient.send = send, send_async
        try:
            yield
        finally:
            http.Client.send, http.AsyncClient.send = plain, awaited


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """Say to which part of the examination belongs what is sent inside."""
    token = _label.set(label)
    try:
        yield
    finally:
        _label.reset(token)


def _body(http: Any, request: Any) -> str:
    try:
        return request.content.decode("utf-8", errors="replace")
    except http.RequestNotRead:  # a stream, such as an upload; no prompt goes that way
        return ""
