"""The few HTTP calls cotune itself makes to a local server; agents go through their LM class."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any

from ..errors import CotuneError

HOST = "127.0.0.1"


def served_model(port: int) -> str | None:
    """Return the name of the model that is ready at `port`, or None while there is none."""
    try:
        status, body = _request(port, "GET", "/v1/models", timeout=2.0)
    except (OSError, HTTPException, ValueError):
        return None
    return body["data"][0]["id"] if status == 200 else None


def chat(port: int, request: Mapping[str, Any], timeout: float = 120.0) -> dict[str, Any]:
    """Make one chat completion.

    Args:
        port: Where the server listens on this computer.
        request: The body, as in OpenAI's API.
        timeout: Seconds to wait for the answer.

    Returns:
        The response, with `usage` in tokens and llama.cpp's `timings` in milliseconds.

    Raises:
        CotuneError: The server refused the request or cannot be reached.
    """
    try:
        status, body = _request(port, "POST", "/v1/chat/completions", timeout, request)
    except (OSError, HTTPException, ValueError) as error:
        raise CotuneError(f"The local model server at port {port} does not answer: {error}.") from (
            error
        )
    if status != 200:
        raise CotuneError(f"The local model server refused the request ({status}): {body}")
    return body


def _request(
    port: int, method: str, path: str, timeout: float, body: Mapping[str, Any] | None = None
) -> tuple[int, Any]:
    # http.client reads no proxy variables: a request to this computer must not leave it.
    connection = HTTPConnection(HOST, port, timeout=timeout)
    try:
        payload = None if body is None else json.dumps(body)
        connection.request(method, path, payload, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()
