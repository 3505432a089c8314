"""A service in another language as the assistant, and services that do not do as they should."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from cotune.agents.adapters.adapter import Means
from cotune.agents.adapters.http import HttpAdapter
from cotune.agents.adapters.settings import HttpSettings
from cotune.agents.assistant import AgentCall, ToolCall
from cotune.agents.errors import FaultError, FaultOrigin, UsageError
from cotune.agents.ledger import Ledger
from cotune.agents.prompts import Prompt, PromptBundle

from .endpoint import INPUT_TOKENS, Answer, Request, endpoint, fails, says
from .node_shop import node_shop

AWKWARD = 'Braces {a} {{ b }} ${c} `d`, "quotes", \\n, ünï©ode 🥛\n\n\ttab\u2028line'
PROMPTS = PromptBundle.of(Prompt("concierge", "Name it."), Prompt("search", "Answer."))
GOOD: dict[str, Any] = {
    "choices": [{"message": {"role": "assistant", "content": "Here."}}],
    "cotune": {"calls": [], "state": {"cart": [1]}},
}


def shop(request: Request) -> Answer:
    return says("oat milk" if request.system.startswith(("Name", "Answer with")) else "Here it is.")


def adapter(url: str, **settings: Any) -> HttpAdapter:
    return HttpAdapter(HttpSettings(kind="http", url=url, max_wait=0, **settings))


Respond = Callable[[str, dict[str, Any]], tuple[int, Any]]


@contextmanager
def service(respond: Respond) -> Iterator[str]:
    """Serve `(path, body) -> (status, body)`, where the body of a GET is empty."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: dict[str, Any]) -> None:
            status, said = respond(self.path, body)
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def described(answer: Any) -> Respond:
    """Return a service that has no description, and one answer."""
    return lambda path, body: (200, answer) if path.endswith("completions") else (404, {})


async def test_a_service_in_node_takes_part() -> None:
    with endpoint(shop) as model, node_shop(model.url) as url:
        found = adapter(url)
        assert list(found.prompts) == ["concierge", "search"]
        assert found.identity()["revision"] == "r1"
        ledger = Ledger()
        session = found.connect(Means(ledger)).start(found.prompts, {"store": "Bonn"}, 4)
        reply = await session.reply("Have you oat milk?")
        await session.reply("And more?")
    product = {"id": "p1", "name": "oat milk", "price": 1.95}
    assert reply.text == "Here it is."
    assert reply.calls[:2] == (
        AgentCall("concierge", {"message": "Have you oat milk?"}, {"answer": "oat milk"}),
        ToolCall("find_products", "search", {"query": "oat milk"}, [product]),
    )
    assert session.state() == {"store": "Bonn", "shown": [product]}
    used = {agent: usage for (_, agent), usage in ledger.totals.items()}
    assert {agent: usage.input_tokens for agent, usage in used.items()} == {
        "concierge": 2 * INPUT_TOKENS,
        "search": 2 * INPUT_TOKENS,
    }
    assert all(usage.cost > 0 for usage in used.values())
    assert {request.body["seed"] for request in model.requests} == {4}


async def test_prompts_reach_the_model_byte_for_byte() -> None:
    with endpoint(shop) as model, node_shop(model.url) as url:
        prompts = PROMPTS.with_texts({"search": AWKWARD})
        await adapter(url).connect(Means(Ledger())).start(prompts, {}, 0).reply("oat milk")
    assert [request.system for request in model.requests] == ["Name it.", AWKWARD]


async def test_conversations_never_mix_prompts() -> None:
    def candidate(number: int) -> PromptBundle:
        return PROMPTS.with_texts({name: f"{name} {number % 20}" for name in PROMPTS})

    with endpoint(lambda request: says(request.last)) as model, node_shop(model.url) as url:
        assistant = adapter(url).connect(Means(Ledger()))
        await asyncio.gather(
            *(assistant.start(candidate(n), {}, n).reply(f"from {n % 20}") for n in range(200))
        )
    assert len(model.requests) == 400
    for request in model.requests:
        assert request.system.split()[1] == request.last.split()[1]


@pytest.mark.parametrize(
    ("status", "kind", "sent"), [(429, "rate_limit", 2), (500, "provider_error", 2)]
)
async def test_an_outage_of_the_services_model_is_a_providers_fault(
    status: int, kind: str, sent: int
) -> None:
    with endpoint(lambda request: fails(status)) as model, node_shop(model.url) as url:
        session = adapter(url, attempts=2).connect(Means(Ledger())).start(PROMPTS, {}, 0)
        with pytest.raises(FaultError) as failed:
            await session.reply("hi")
    assert (failed.value.fault.origin, failed.value.fault.kind) == (FaultOrigin.PROVIDER, kind)
    assert len(model.requests) == sent


async def test_a_service_that_recovers_is_asked_again() -> None:
    asked: Counter[str] = Counter()

    def respond(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        asked[path] += 1
        return (503, {}) if asked[path] < 3 and body else (200 if body else 404, GOOD)

    with service(respond) as url:
        session = adapter(url).connect(Means(Ledger())).start(PROMPTS, {}, 0)
        assert (await session.reply("hi")).text == "Here."
    assert session.state() == {"cart": [1]}


async def test_what_a_service_is_sent() -> None:
    bodies: list[dict[str, Any]] = []

    def respond(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        bodies.append(body)
        return (200, GOOD) if body else (404, {})

    with service(respond) as url:
        session = adapter(url, model="shop-2").connect(Means(Ledger()))
        session = session.start(PROMPTS, {"store": "Bonn"}, 9)
        await session.reply("one")
        await session.reply("two")
    first, second = (body for body in bodies if body)
    assert first["model"] == "shop-2"
    name = first["cotune"].pop("session")
    assert first["cotune"] == {
        "version": 1,
        "prompts": PROMPTS.texts(),
        "turn": 0,
        "state": {"store": "Bonn"},
        "seed": 9,
    }
    assert second["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "Here."},
        {"role": "user", "content": "two"},
    ]
    assert second["cotune"]["session"] == name
    assert (second["cotune"]["turn"], second["cotune"]["state"]) == (1, {"cart": [1]})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"<html>", "Invalid JSON"),
        ({**GOOD, "choices": []}, "'choices'"),
        ({"choices": GOOD["choices"]}, "'cotune'"),
        ({**GOOD, "cotune": {"calls": []}}, "'cotune.state'"),
        ({**GOOD, "cotune": {"calls": [{"inputs": {}}], "state": {}}}, "'cotune.calls.0.agent'"),
        ({**GOOD, "cotune": {"calls": [{"tool": 3}], "state": {}}}, "'cotune.calls.0.tool'"),
        ({**GOOD, "cotune": {"calls": [], "sate": {}, "state": {}}}, "'cotune.sate'"),
    ],
)
async def test_an_answer_of_another_form_names_the_field(answer: Any, said: str) -> None:
    with service(described(answer)) as url:
        session = adapter(url).connect(Means(Ledger())).start(PROMPTS, {}, 0)
        with pytest.raises(FaultError) as failed:
            await session.reply("hi")
    assert failed.value.fault.kind == "protocol"
    assert said in failed.value.fault.message


def test_a_service_that_is_not_there_says_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"assistant\.url is .* Start the service"):
        _ = adapter("http://127.0.0.1:9/v1").prompts


def test_a_missing_token_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    with pytest.raises(UsageError, match="SHOP_TOKEN"):
        _ = adapter("http://127.0.0.1:9/v1", api_key_env="SHOP_TOKEN").prompts
