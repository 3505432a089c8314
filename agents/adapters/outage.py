"""Outages: failures of model providers that reach us through a framework's own errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ..errors import Fault, FaultOrigin

_PASSING = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_LONGEST = 300


def outage_of(error: BaseException) -> Fault | None:
    """Return the provider's fault behind an error, or None where the code itself failed.

    Frameworks wrap what their clients raise, so the causes are looked at, too. Only clients
    that are in use, and so imported, can have raised.
    """
    for cause in _causes(error):
        if (kind := _kind(cause)) is not None:
            said = f"{type(cause).__name__}: {cause}"[:_LONGEST]
            return Fault(FaultOrigin.PROVIDER, kind, said)
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _kind(error: BaseException) -> str | None:
    return _of_openai(error) or _of_httpx(error)


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


def _of_httpx(error: BaseException) -> str | None:
    if "httpx" in sys.modules:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            return "timeout"
        if isinstance(error, httpx.TransportError):
            return "connection"
        if isinstance(error, httpx.HTTPStatusError):
            return _of_status(error.response.status_code)
    return None


def _of_status(status: int) -> str | None:
    if status == 429:
        return "rate_limit"
    return "provider_error" if status in _PASSING else "refused"
