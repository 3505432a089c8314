"""Outages: failures of model providers that reach us through a framework's own errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError

from ..errors import Fault, FaultOrigin

_PASSING = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_LONGEST = 300


def outage_of(error: BaseException) -> Fault | None:
    """Return the provider's fault behind an error, or None where the code itself failed.

    Frameworks wrap what their clients raise, so the causes are looked at, too. Only clients
    that are in use, and so imported, can have raised.
    """
    for cause in causes_of(error):
        if (kind := _kind(cause)) is not None:
            said = f"{type(cause).__name__}: {cause}"[:_LONGEST]
            return Fault(FaultOrigin.PROVIDER, kind, said)
    return None


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, also what failed together in a group of tasks."""
    seen: set[int] = set()
    ahead: list[BaseException | None] = [error]
    while ahead:
        cause = ahead.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        context = None if cause.__suppress_context__ else cause.__context__
        ahead.append(cause.__cause__ or context)
        if isinstance(cause, BaseExceptionGroup):
            ahead += cause.exceptions


def _kind(error: BaseException) -> str | None:
    for kind_of in _KINDS:
        if (kind := kind_of(error)) is not None:
            return kind
    return None


def _of_openai(error: BaseException) -> str | None:
    if "openai" in sys.modules:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return "timeout"
        if isinstance(error, openai.APIConnectionError):
            return "connection"
        if isinstance(error, openai.APIStatusError):
            return _of_status(error.status_code)
    return None


def _of_google(error: Any) -> str | None:
    client = sys.modules.get("google.genai.errors")
    if client is not None and isinstance(error, client.APIError):
        return _of_status(error.code)
    return None


def _of_openai_agents(error: Any) -> str | None:
    if "agents.exceptions" in sys.modules:
        sdk = sys.modules["agents.exceptions"]
        return "timeout" if isinstance(error, sdk.ModelTimeoutError) else None
    return None


def _of_pydantic_ai(error: Any) -> str | None:
    if "pydantic_ai.exceptions" in sys.modules:
        known = sys.modules["pydantic_ai.exceptions"]
        if isinstance(error, known.ModelHTTPError):
            return _of_status(error.status_code)
        if isinstance(error, known.ModelTimeoutError | known.ModelRequestTimeout):
            return "timeout"
        if isinstance(error, known.ModelConnectionError):
            return "connection"
    return None


def _of_dspy(error: BaseException) -> str | None:
    from dspy.utils import exceptions

    match error:
        case exceptions.ContextWindowExceededError():
            return None  # the prompt is too long, which is not the provider's fault
        case exceptions.LMRateLimitError():
            return "rate_limit"
        case exceptions.LMTimeoutError():
            return "timeout"
        case exceptions.LMTransportError():
            return "connection"
        case exceptions.LMProviderError():
            return "provider_error" if error.status is None else _of_status(error.status)
    return None


def _of_httpx(error: Any) -> str | None:
    # openai and others use a version of httpx under another name.
    for client in (sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules):
        if isinstance(error, client.TimeoutException):
            return "timeout"
        if isinstance(error, client.TransportError):
            return "connection"
        if isinstance(error, client.HTTPStatusError):
            return _of_status(error.response.status_code)
    return None


def _of_requests(error: Any) -> str | None:
    if "requests" in sys.modules:
        client = sys.modules["requests"]
        if isinstance(error, client.Timeout):
            return "timeout"
        if isinstance(error, client.ConnectionError):
            return "connection"
        if isinstance(error, client.HTTPError) and error.response is not None:
            return _of_status(error.response.status_code)
    return None


def _of_python(error: BaseException) -> str | None:
    match error:
        case HTTPError():
            return _of_status(error.code)
        case TimeoutError() | URLError(reason=TimeoutError()):
            return "timeout"
        case ConnectionError() | URLError():
            return "connection"
    return None


def _of_status(status: int) -> str | None:
    if status == 429:
        return "rate_limit"
    return "provider_error" if status in _PASSING else "refused"


_KINDS = (
    _of_openai,
    _of_openai_agents,
    _of_pydantic_ai,
    _of_google,
    _of_dspy,
    _of_httpx,
    _of_requests,
    _of_python,
)
