"""A local server that speaks OpenAI's chat completions protocol, as light as one can be.

`python -m cotune.experiments.benchmarks.openai_server --latency 0.2` prints its address and
serves until its standard input closes. Every answer is the simplest value that fits the schema
of the request. Tests of what goes wrong on the wire give `serving` an answer of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any

TEXT = "Certainly."
_BODY_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request gets.

    Attributes:
        body: JSON, or bytes to be sent as they are.
        status: HTTP status code.
        headers: Beside the type and length of the content.
        delay: Seconds until it is sent.
    """

    body: Any
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


Respond = Callable[[Mapping[str, Any]], Answer]


@dataclass(slots=True)
class Served:
    """What a server has done so far; `GET /served` returns it.

    Attributes:
        requests: Chat completions that were asked for.
        cpu_seconds: CPU time of the server's process.
    """

    requests: int = 0
    cpu_seconds: float = 0.0

    def __sub__(self, earlier: Served) -> Served:
        return Served(self.requests - earlier.requests, self.cpu_seconds - earlier.cpu_seconds)


@contextmanager
def server_process(latency: float) -> Iterator[str]:
    """Run the server in a process of its own; yields its address, such as `http://host:port/v1`."""
    command = [sys.executable, "-m", __name__, "--latency", str(latency)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        # Leaving closes its standard input, at which it ends.


def served_by(address: str) -> Served:
    """Ask a server what it has done so far."""
    with urllib.request.urlopen(f"{address}/served") as response:  # noqa: S310  our own address
        return Served(**json.load(response))


@asynccontextmanager
async def serving(respond: Respond) -> AsyncIterator[str]:
    """Serve on a free port of the loopback, in this process; yields the address."""
    served = Served()
    connected: set[asyncio.Transport] = set()
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(respond, served, connected), "127.0.0.1", 0, backlog=1024
    )
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for transport in connected:  # clients keep theirs alive
            transport.abort()


def right_answer(request: Mapping[str, Any], delay: float = 0.0) -> Answer:
    """Return the completion a well-behaved model would give."""
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
    content = TEXT if schema is None else json.dumps(example_of(schema))
    read = sum(len(str(message["content"])) for message in request["messages"]) // 4
    written = len(content) // 4
    message = {"role": "assistant", "content": content}
    return Answer(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
            },
        },
        delay=delay,
    )


def example_of(schema: Mapping[str, Any]) -> Any:
    """Return the simplest value that fits a JSON schema of the kind pydantic writes."""
    return _example_of(schema, schema.get("$defs", {}))


def _example_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    match schema:
        case {"$ref": str(name)}:
            return _example_of(definitions[name.rpartition("/")[2]], definitions)
        case {"const": value} | {"enum": [value, *_]}:
            return value
        case {"anyOf": [first, *_]}:
            return _example_of(first, definitions)
        case {"type": "object", "properties": fields}:
            return {name: _example_of(field, definitions) for name, field in fields.items()}
    simplest = {"object": {}, "array": [], "string": TEXT, "boolean": False, "null": None}
    return simplest.get(schema.get("type", "null"), schema.get("minimum", 0))


class _Connection(asyncio.Protocol):
    """One connection that is kept alive; requests come one after another."""

    def __init__(self, respond: Respond, served: Served, connected: set[asyncio.Transport]) -> None:
        self._respond = respond
        self._served = served
        self._connected = connected
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connected.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connected.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (request := self._next_request()) is not None:
            answer = self._answer(*request)
            asyncio.get_running_loop().call_later(answer.delay, self._send, answer)

    def _next_request(self) -> tuple[bytes, bytes] | None:
        """Take head and body of a request that has arrived whole."""
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = bytes(self._received[:end])
        length = _BODY_LENGTH.search(head)
        rest = end + 4 + (int(length[1]) if length else 0)
        if len(self._received) < rest:
            return None
        body = bytes(self._received[end + 4 : rest])
        del self._received[:rest]
        return head, body

    def _answer(self, head: bytes, body: bytes) -> Answer:
        if head.startswith(b"GET"):
            self._served.cpu_seconds = time.process_time()
            return Answer(asdict(self._served))
        self._served.requests += 1
        return self._respond(json.loads(body))

    def _send(self, answer: Answer) -> None:
        if self._transport.is_closing():
            return
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **answer.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        status = HTTPStatus(answer.status)
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}\r\n"
        self._transport.write(head.encode() + body)


async def _serve_until_input_ends(latency: float) -> None:
    async with serving(lambda request: right_answer(request, latency)) as address:
        print(address, flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Serve until standard input closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds for one answer")
    asyncio.run(_serve_until_input_ends(parser.parse_args().latency))


if __name__ == "__main__":
    main()
