"""`LanguageModel` against a real server on the loopback that speaks chat completions."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

import pytest
from dspy.lm15 import Message, Request

from cotune.agents import lm as lm_module
from cotune.agents.adaptive_limit import AdaptiveLimit
from cotune.agents.budget import Budget, BudgetExhaustedError, Limits
from cotune.agents.errors import CotuneError, FaultError, FaultOrigin, UsageError
from cotune.agents.grocery.signatures import AGENTS
from cotune.agents.ledger import Ledger, Role, Sent, Usage, charged_to
from cotune.agents.lm import LanguageModel, ModelUnusableError
from cotune.agents.models import ModelSettings, Price
from cotune.agents.prompts import Prompt

PROMPT = Prompt("router", "Choose the agent.")
KEY = "COTUNE_TEST_KEY"


@dataclass
class Turn:
    """What the server does with one request."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    waits: bool = False
    echoes: bool = False


@dataclass
class FakeProvider:
    """Answers as told, in order, then with a right answer; keeps what it received."""

    port: int
    closing: threading.Event = field(default_factory=threading.Event)
    turns: list[Turn] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    arrived: SimpleQueue[None] = field(default_factory=SimpleQueue)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def error(self, status: int, message: str = "no", **headers: str) -> None:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.turns.append(Turn(status, {"error": {"message": message}}, headers))


def _completion(model: str, content: str) -> dict[str, Any]:
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.received.append(sent)
            fake.keys.append(self.headers["Authorization"])
            fake.arrived.put(None)
            turn = fake.turns.pop(0) if fake.turns else Turn()
            if turn.waits:
                fake.closing.wait()
                self.close_connection = True
                return
            if turn.echoes:
                turn.body = {"error": {"message": f"Refused: {fake.keys[-1]}"}}
            body = turn.body or _completion(sent["model"], '{"agent": "cart"}')
            data = json.dumps(body).encode()
            self.send_response(turn.status)
            for name, value in turn.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake = FakeProvider(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield fake
    fake.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that would have been waited between attempts; the tests do not wait."""
    seconds: list[float] = []
    waited = lm_module._wait

    def at_once(state: Any, most: float) -> float:
        seconds.append(waited(state, most))
        return 0.0

    monkeypatch.setattr(lm_module, "_wait", at_once)
    monkeypatch.setattr(AdaptiveLimit, "refused", lambda limit, round_, retry_after: None)
    return seconds


def _model(
    provider: FakeProvider, ledger: Ledger, budget: Budget | None = None, **settings: Any
) -> LanguageModel:
    settings = {"model": "openai/tiny", "api_base": provider.address, **settings}
    return LanguageModel(ModelSettings(**settings), Role.TASK, ledger, budget)


async def _route(lm: LanguageModel, message: str = "hi", seed: int = 7) -> dict[str, Any]:
    return await AGENTS["router"].call(PROMPT, lm, {"message": message}, seed)


async def test_prompt_inputs_schema_and_settings_are_sent_and_nothing_else(
    provider: FakeProvider,
) -> None:
    answer = await _route(_model(provider, Ledger(), temperature=0.3, max_tokens=99))

    assert answer == {"agent": "cart"}
    (sent,) = provider.received
    assert sent["messages"] == [
        {"role": "system", "content": "Choose the agent."},
        {"role": "user", "content": "hi"},
    ]
    assert sent["response_format"]["type"] == "json_schema"
    schema = sent["response_format"]["json_schema"]
    assert schema["name"] == "Route"
    assert schema["strict"] is True
    assert schema["schema"]["additionalProperties"] is False
    assert "cart" in schema["schema"]["properties"]["agent"]["enum"]
    assert (sent["temperature"], sent["seed"]) == (0.3, 7)
    assert sent.get("max_tokens", sent.get("max_completion_tokens")) == 99


async def test_ledger_says_what_was_sent_by_whom_and_for_what(provider: FakeProvider) -> None:
    ledger = Ledger()
    with charged_to(key="work-1"):
        await _route(_model(provider, ledger))

    usage = Usage(calls=1, attempts=1, input_tokens=1000, output_tokens=100, unpriced=1)
    assert ledger.totals[Role.TASK, "router"] == usage
    assert ledger.collect("work-1") == usage
    assert ledger.sent[Role.TASK, "router", "openai/tiny"] == Sent(
        "openai/tiny", 0.0, 512, 7, "Route"
    )


async def test_price_is_applied(provider: FakeProvider) -> None:
    ledger = Ledger()
    await _route(_model(provider, ledger, price=Price(input=2.0, output=10.0)))
    assert ledger.total.cost == pytest.approx((1000 * 2 + 100 * 10) / 1e6)
    assert ledger.total.unpriced == 0


async def test_known_models_have_a_price(provider: FakeProvider) -> None:
    ledger = Ledger()
    await _route(_model(provider, ledger, model="openai/gpt-4.1-mini"))
    assert ledger.total.cost > 0
    assert ledger.total.unpriced == 0


async def test_rate_limit_waits_as_long_as_asked(
    provider: FakeProvider, waits: list[float]
) -> None:
    provider.error(429, Retry_After="7")
    ledger = Ledger()
    assert await _route(_model(provider, ledger)) == {"agent": "cart"}
    assert len(waits) == 1
    assert 7.0 <= waits[0] <= 7.5
    assert (ledger.total.calls, ledger.total.attempts) == (1, 2)


async def test_many_callers_do_not_come_back_all_at_once(
    provider: FakeProvider, waits: list[float]
) -> None:
    for _ in range(3):
        provider.error(429, Retry_After="86400")
    await _route(_model(provider, Ledger()))
    assert len(set(waits)) == 3


async def test_absurd_retry_after_is_capped(provider: FakeProvider, waits: list[float]) -> None:
    provider.error(429, Retry_After="86400")
    await _route(_model(provider, Ledger(), max_wait=0.01))
    assert len(waits) == 1
    assert 0 <= waits[0] - 0.01 <= 0.01


async def test_server_errors_are_retried_with_growing_waits(
    provider: FakeProvider, waits: list[float]
) -> None:
    for _ in range(3):
        provider.error(500)
    assert await _route(_model(provider, Ledger())) == {"agent": "cart"}
    assert len(provider.received) == 4
    assert 0.5 <= waits[0] <= 1.0
    assert 2.0 <= waits[2] <= 2.5


async def test_attempts_are_limited_and_the_provider_is_to_blame(
    provider: FakeProvider, waits: list[float]
) -> None:
    for _ in range(9):
        provider.error(429, Retry_After="1")
    ledger = Ledger()
    with pytest.raises(FaultError) as caught:
        await _route(_model(provider, ledger, attempts=3))
    assert caught.value.fault.origin is FaultOrigin.PROVIDER
    assert caught.value.fault.kind == "rate_limit"
    assert len(provider.received) == 3
    assert ledger.total == Usage(attempts=3)
    assert ledger.errors == {"rate_limit": 1}


async def test_no_answer_in_time_is_the_providers_fault(
    provider: FakeProvider, waits: list[float]
) -> None:
    provider.turns += [Turn(waits=True), Turn(waits=True)]
    with pytest.raises(FaultError) as caught:
        await _route(_model(provider, Ledger(), timeout=0.1, attempts=2))
    assert caught.value.fault.origin is FaultOrigin.PROVIDER
    assert caught.value.fault.kind == "timeout"
    assert len(provider.received) == 2


async def test_answer_after_a_timeout_counts(provider: FakeProvider, waits: list[float]) -> None:
    provider.turns += [Turn(waits=True)]
    assert await _route(_model(provider, Ledger(), timeout=0.5)) == {"agent": "cart"}


async def test_wrong_key_ends_the_run_at_once(
    provider: FakeProvider, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "wrong")
    provider.error(401, "invalid api key")
    with pytest.raises(ModelUnusableError, match="api_key_env"):
        await _route(_model(provider, Ledger(), api_key_env=KEY))
    assert provider.keys == ["Bearer wrong"]
    assert waits == []


@pytest.mark.parametrize("status", [401, 400, 403, 429, 500])
async def test_an_echoed_authorization_header_is_not_repeated(
    provider: FakeProvider, waits: list[float], monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv(KEY, "s3cret")
    provider.turns.append(Turn(status, echoes=True))
    with pytest.raises(CotuneError) as caught:
        await _route(_model(provider, Ledger(), api_key_env=KEY, attempts=1))
    assert provider.keys == ["Bearer s3cret"]
    assert "Bearer ***" in str(caught.value)
    assert "s3cret" not in str(caught.value)


async def test_other_secrets_in_a_message_are_not_repeated_either(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "sk-other-0123")
    monkeypatch.setenv("SHORT_TOKEN", "no")
    provider.error(401, "no sk-other-0123 at http://me:pw@host")
    with pytest.raises(ModelUnusableError) as caught:
        await _route(_model(provider, Ledger()))
    assert "no *** at http://…@host" in str(caught.value)


@pytest.mark.parametrize("model", ["nosuchprovider/x", "justaname"])
async def test_unknown_provider_is_refused_with_what_a_model_string_is(model: str) -> None:
    lm = LanguageModel(ModelSettings(model=model), Role.TASK, Ledger())
    with pytest.raises(ModelUnusableError, match=r"openai/gpt-4\.1-mini") as caught:
        await lm.acall("hi")
    assert f"'{model}'" in str(caught.value)


def test_missing_key_is_said_before_any_call(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(UsageError, match=KEY):
        _model(provider, Ledger(), api_key_env=KEY)


async def test_unknown_model_or_address_ends_the_run(
    provider: FakeProvider, waits: list[float]
) -> None:
    provider.error(404, "no such model")
    with pytest.raises(ModelUnusableError, match="no such model"):
        await _route(_model(provider, Ledger()))
    assert waits == []


def test_model_string_without_a_name_is_refused(provider: FakeProvider) -> None:
    with pytest.raises(ModelUnusableError, match="openai/"):
        _model(provider, Ledger(), model="openai/")


def test_local_model_without_a_server_is_refused() -> None:
    with pytest.raises(ModelUnusableError, match="no server"):
        LanguageModel(ModelSettings(model="local:tiny"), Role.TASK, Ledger())


async def test_local_model_is_called_at_its_endpoint_for_nothing(provider: FakeProvider) -> None:
    ledger = Ledger()
    settings = ModelSettings(model="local:tiny")
    lm = LanguageModel(settings, Role.TASK, ledger, endpoint=provider.address)
    provider.turns.append(Turn(body=_completion("tiny", "cart")))

    assert await _route(lm) == {"agent": "cart"}
    (sent,) = provider.received
    assert sent["model"] == "tiny"
    assert sent["grammar"].startswith('root ::= "search" | ')
    assert "response_format" not in sent
    assert next(iter(ledger.sent.values())).schema == "grammar"
    assert (ledger.total.cost, ledger.total.unpriced) == (0.0, 0)


async def test_refused_connection_is_the_infrastructures_fault(waits: list[float]) -> None:
    ledger = Ledger()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = FakeProvider(unused.getsockname()[1])
        with pytest.raises(FaultError) as caught:
            await _route(_model(nobody, ledger, attempts=2))
    assert caught.value.fault.origin is FaultOrigin.INFRASTRUCTURE
    assert caught.value.fault.kind == "unreachable"
    assert ledger.total.attempts == 2


async def test_too_long_a_prompt_is_the_assistants_fault(
    provider: FakeProvider, waits: list[float]
) -> None:
    error = {"message": "too long", "code": "context_length_exceeded"}
    provider.turns.append(Turn(400, {"error": error}))
    with pytest.raises(FaultError) as caught:
        await _route(_model(provider, Ledger()))
    assert caught.value.fault.origin is FaultOrigin.ASSISTANT
    assert caught.value.fault.kind == "context_window"


async def test_spent_budget_stops_calls_before_they_are_sent(provider: FakeProvider) -> None:
    budget = Budget(Limits(rollouts=10, tokens=1500))
    lm = _model(provider, Ledger(), budget)
    await _route(lm, "one")
    await _route(lm, "two")
    with pytest.raises(BudgetExhaustedError, match="tokens"):
        await _route(lm, "three")
    assert len(provider.received) == 2
    assert budget.usage.tokens == 2200


async def test_money_limit_stops_calls_too(provider: FakeProvider) -> None:
    budget = Budget(Limits(rollouts=10, usd=0.001))
    lm = _model(provider, Ledger(), budget, price=Price(input=1.0, output=1.0))
    await _route(lm)
    with pytest.raises(BudgetExhaustedError, match=r"\$0\.0011"):
        await _route(lm)
    assert len(provider.received) == 1


async def test_cancelled_call_is_not_retried(provider: FakeProvider) -> None:
    provider.turns.append(Turn(waits=True))
    call = asyncio.create_task(_route(_model(provider, Ledger())))
    await asyncio.to_thread(provider.arrived.get)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert len(provider.received) == 1


async def test_calls_in_flight_are_limited(provider: FakeProvider) -> None:
    provider.turns += [Turn(waits=True), Turn(waits=True)]
    lm = _model(provider, Ledger(), concurrency=2)
    calls = [asyncio.create_task(_route(lm, str(number))) for number in range(4)]
    for _ in range(2):
        await asyncio.to_thread(provider.arrived.get)
    await asyncio.sleep(0.05)
    assert len(provider.received) == 2
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_text_and_messages_are_answered_with_text(provider: FakeProvider) -> None:
    lm = _model(provider, Ledger())
    assert await lm.acall("hello") == ['{"agent": "cart"}']
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert await lm.acall(messages=messages, temperature=0.9) == ['{"agent": "cart"}']
    assert provider.received[1]["messages"] == messages
    assert provider.received[1]["temperature"] == 0.9


async def test_request_is_answered_with_a_response(provider: FakeProvider) -> None:
    lm = _model(provider, Ledger())
    response = await lm.acall(Request(model=lm.model, messages=(Message.user("hello"),)))
    assert response.text == '{"agent": "cart"}'


def test_synchronous_calls_are_refused(provider: FakeProvider) -> None:
    with pytest.raises(TypeError, match="acall"):
        _model(provider, Ledger())("hello")


def test_other_weights_under_the_same_name_are_another_model() -> None:
    def identity(weights: str) -> dict[str, Any]:
        chosen = ModelSettings(model="local:tiny")
        address = "http://127.0.0.1:9/v1"
        return LanguageModel(chosen, Role.TASK, Ledger(), None, address, weights).identity()

    assert identity("one") == identity("one")
    assert identity("one") != identity("other")
    assert identity("") == ModelSettings(model="local:tiny").identity()
