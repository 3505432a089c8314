"""A local endpoint that speaks OpenAI chat completions, for assistants in any framework.

    def respond(request: Request) -> Answer:
        return says("We have oat milk.") if request.results else calls("find", query="milk")

    with endpoint(respond) as served:
        ...  # a client of `served.url`; afterwards look at `served.requests`

It runs in threads of its own, so synchronous and asynchronous clients can call it alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

INPUT_TOKENS, OUTPUT_TOKENS = 11, 7
"""What every answer says it used."""

_CHARACTERS_PER_CHUNK = 5


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent.

    Attributes:
        path: Of the URL, such as `/v1/chat/completions`.
        body: The JSON of the request, as it came.
    """

    path: str
    body: Mapping[str, Any]

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages, as they came."""
        return self.body["messages"]

    @property
    def system(self) -> str:
        """All that the model was told as system or developer, in order."""
        roles = ("system", "developer")
        return "\n".join(_text(m["content"]) for m in self.messages if m["role"] in roles)

    @property
    def last(self) -> str:
        """What the customer said last."""
        said = [_text(m["content"]) for m in self.messages if m["role"] == "user"]
        return said[-1] if said else ""

    @property
    def tools(self) -> list[str]:
        """Names of the tools that the model may call."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    @property
    def results(self) -> list[str]:
        """What the tools returned since the customer spoke last."""
        results: list[str] = []
        for message in self.messages:
            if message["role"] == "user":
                results = []
            elif message["role"] == "tool":
                results.append(_text(message["content"]))
        return results


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request gets.

    Attributes:
        message: The assistant's message in the protocol's form.
        status: HTTP status code; any but 200 is an error, and the message its reason.
        headers: Beside the type and length of the content.
    """

    message: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Respond = Callable[[Request], Answer]


def says(text: str) -> Answer:
    """The model answers with a text."""
    return Answer({"role": "assistant", "content": text})


def calls(tool: str, **arguments: Any) -> Answer:
    """The model calls one tool."""
    return calls_all((tool, arguments))


def calls_all(*tools: tuple[str, Mapping[str, Any]]) -> Answer:
    """The model calls several tools at once."""
    asked = [
        {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name, arguments in tools
    ]
    return Answer({"role": "assistant", "content": None, "tool_calls": asked})


def fails(status: int) -> Answer:
    """The endpoint is out of order: 429 for too many requests, 500 and the like."""
    return Answer({"message": f"out of order ({status})"}, status, {"Retry-After": "0"})


@dataclass(slots=True)
class Endpoint:
    """A running endpoint.

    Attributes:
        url: Its base URL, which ends with `/v1`.
        respond: What answers; may be exchanged while it runs.
        requests: What it was asked so far, in the order of arrival.
    """

    url: str
    respond: Respond
    requests: list[Request] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def answered(self, request: Request) -> Answer:
        """Record a request and return its answer."""
        self.requests.append(request)
        return self.respond(request)


@contextmanager
def endpoint(respond: Respond) -> Iterator[Endpoint]:
    """Serve on a free port of the loopback until the block is left."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        served = Endpoint(f"http://127.0.0.1:{server.server_port}/v1", respond)
        server.served = served
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # clients keep their connections alive
    request_queue_size = 1024
    served: Endpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        assert isinstance(self.server, _Server)
        served = self.server.served
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = served.answered(Request(self.path, body))
        if answer.status != 200:
            self._send(json.dumps({"error": answer.message}), answer, "application/json")
            return
        number = next(served.numbers)
        message = _numbered(answer.message, number)
        if body.get("stream"):
            self._send(_stream(body, message, number), answer, "text/event-stream")
        else:
            self._send(json.dumps(_completion(body, message, number)), answer, "application/json")

    def _send(self, text: str, answer: Answer, kind: str) -> None:
        content = text.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing on the terminal."""


def _numbered(message: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Give each tool call an id of its own."""
    if "tool_calls" not in message:
        return dict(message)
    asked = [
        {"id": f"call_{number}_{place}", **call} for place, call in enumerate(message["tool_calls"])
    ]
    return {**message, "tool_calls": asked}


def _completion(body: Mapping[str, Any], message: Mapping[str, Any], number: int) -> dict[str, Any]:
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": dict(message), "finish_reason": reason}],
        "usage": _usage(),
    }


def _stream(body: Mapping[str, Any], message: Mapping[str, Any], number: int) -> str:
    """Write the same completion as server-sent events."""
    text = message["content"] or ""
    pieces = [
        {"content": text[start : start + _CHARACTERS_PER_CHUNK]}
        for start in range(0, len(text), _CHARACTERS_PER_CHUNK)
    ]
    asked = [{"index": place, **call} for place, call in enumerate(message.get("tool_calls", ()))]
    deltas = [{"role": "assistant"}, *pieces, *([{"tool_calls": asked}] if asked else [])]
    whole = _completion(body, message, number)
    head = {**{key: whole[key] for key in ("id", "created", "model")}}
    head["object"] = "chat.completion.chunk"
    chunks: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    reason = whole["choices"][0]["finish_reason"]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    chunks.append({**head, "choices": [], "usage": whole["usage"]})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def _usage() -> dict[str, int]:
    total = INPUT_TOKENS + OUTPUT_TOKENS
    return {
        "prompt_tokens": INPUT_TOKENS,
        "completion_tokens": OUTPUT_TOKENS,
        "total_tokens": total,
    }


def _text(content: Any) -> str:
    """Return a message's content, which may come in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text", "") for part in content)
