"""A shop as a service: a concierge hears what is wanted, and `search` finds it with a tool.

It speaks OpenAI chat completions. What cotune adds comes and goes in the field `cotune`, in any
language; without that field this is the service that customers use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from openai import OpenAI, OpenAIError

MODEL = os.environ.get("SHOP_MODEL", "gpt-4.1-mini")
PORT = int(os.environ.get("SHOP_PORT", "8123"))
PROMPTS = {
    "concierge": "You are the concierge of a grocery shop. Say in a few words which product the "
    "customer wants.",
    "search": "You are the sales assistant of a grocery shop. Answer the customer.",
}
PRICES = {
    "oat milk": 1.95, "rye bread": 3.4, "dark chocolate": 2.2, "green tea": 4.1,
    "olive oil": 7.9, "brown rice": 2.6, "apple juice": 1.8, "goat cheese": 3.9,
    "red lentils": 2.3, "peanut butter": 3.2, "sea salt": 1.1, "dried figs": 2.9,
}  # fmt: skip
TOOL = {
    "type": "function",
    "function": {
        "name": "find_products",
        "description": "Find products by name.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        },
    },
}


def find_products(query: str) -> list[dict[str, Any]]:
    """Find products by name."""
    return [
        {"id": name, "name": name, "price": price}
        for name, price in PRICES.items()
        if name in query.lower()
    ]


@cache
def client() -> OpenAI:
    """Return what asks the models at OPENAI_BASE_URL, with the key in OPENAI_API_KEY."""
    return OpenAI()


class Turn:
    """One message: asked under the prompts of the request, with what is done written down."""

    def __init__(self, prompts: Mapping[str, str]) -> None:
        self.prompts = prompts
        self.calls: list[dict[str, Any]] = []
        self.usage: list[dict[str, Any]] = []

    def ask(self, agent: str, said: list[Any], **more: Any) -> Any:
        """Ask the model under an agent's prompt."""
        messages = [{"role": "system", "content": self.prompts[agent]}, *said]
        answer = client().chat.completions.create(model=MODEL, messages=messages, **more)
        message, used = answer.choices[0].message, answer.usage
        outputs = {"answer": message.content} if message.content else {}
        self.calls.append({"agent": agent, "inputs": {"messages": said}, "outputs": outputs})
        if used is not None:
            tokens = {"input_tokens": used.prompt_tokens, "output_tokens": used.completion_tokens}
            self.usage.append({"agent": agent, "model": MODEL, **tokens})
        return message

    def reply(self, said: list[Any]) -> str:
        """Answer a conversation's last message."""
        wish = self.ask("concierge", said).content
        asked = f"{said[-1]['content']}\n\nWanted: {wish}"
        said = [*said[:-1], {"role": "user", "content": asked}]
        answer = self.ask("search", said, tools=[TOOL])
        while answer.tool_calls:
            said = [*said, answer.model_dump(exclude_none=True)]
            for call in answer.tool_calls:
                said.append({"role": "tool", "tool_call_id": call.id, "content": self.used(call)})
            answer = self.ask("search", said, tools=[TOOL])
        return answer.content

    def used(self, call: Any) -> str:
        """Use a tool, and write that down."""
        arguments = json.loads(call.function.arguments)
        found = find_products(**arguments)
        done = {"tool": call.function.name, "agent": "search", "arguments": arguments}
        self.calls.append({**done, "result": found})
        return json.dumps(found)


def complete(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return one chat completion."""
    asked = body.get("cotune", {})
    turn = Turn(asked.get("prompts", PROMPTS))
    message = {"role": "assistant", "content": turn.reply(body["messages"])}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"]}
    told = {"calls": turn.calls, "usage": turn.usage, "state": asked.get("state", {})}
    return {**answer, "choices": [choice], **({"cotune": told} if asked else {})}


class Handler(BaseHTTPRequestHandler):
    """`GET /v1/cotune` and `POST /v1/chat/completions`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Say which prompts there are; the revision changes with the code."""
        revision = str(Path(__file__).stat().st_mtime_ns)
        self.send(200, {"version": 1, "revision": revision, "prompts": PROMPTS})

    def do_POST(self) -> None:
        """Answer a message; 400 for a wrong request, 502 when the model is out of order."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.send(200, complete(body))
        except KeyError as error:
            self.send(400, {"error": {"message": f"missing: {error}"}})
        except OpenAIError as error:
            self.send(502, {"error": {"message": str(error)}})

    def send(self, status: int, content: Mapping[str, Any]) -> None:
        """Send JSON."""
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", PORT), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
        server.serve_forever()
