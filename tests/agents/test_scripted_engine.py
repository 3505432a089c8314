from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from dspy import Signature
from dspy.lm15 import (
    Config,
    LM15Error,
    Message,
    RateLimitError,
    Request,
    Response,
    ServerError,
    TimeoutError,
)

from cotune.agents.compact_adapter import build_request
from cotune.agents.errors import UsageError
from cotune.agents.grocery.signatures import AGENTS, Route
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import Prompt
from cotune.agents.scripted.engine import AsyncScriptedEngine, ScriptedEngine

FAULTY = "grocery?seed=3&noise=0.2&rate_limit=0.2&server_error=0.1&timeout=0.1"
SPOILING = "grocery?seed=3&truncated=0.1&invalid_json=0.1&empty=0.1"
MESSAGES = [f"Please find me {number} apples." for number in range(60)]


def _request(message: str, seed: int | None = 1, prompt: str = "Choose the agent.") -> Request:
    signature = _instructed(prompt)
    return build_request("scripted/grocery", {"seed": seed}, signature, [], {"message": message})


@cache
def _instructed(prompt: str) -> type[Signature]:
    signature = Route.with_instructions(prompt)
    signature.__name__ = "Route"
    return signature


def _free(schema: Mapping[str, Any] | None, name: str = "Unheard", **config: Any) -> Request:
    format_: Any = {"type": "json_schema", "name": name, "schema": schema} if schema else None
    return Request(
        model="scripted/grocery",
        messages=(Message.user("hello"),),
        config=Config(response_format=format_, **config),
    )


def _outcome(engine: ScriptedEngine, request: Request) -> str:
    try:
        response = engine.complete(request)
    except LM15Error as error:
        return type(error).__name__
    return f"{response.text} {response.finish_reason}"


@pytest.mark.parametrize("model", [FAULTY, SPOILING])
def test_outcomes_do_not_depend_on_the_order_of_requests(model: str) -> None:
    requests = [_request(message) for message in MESSAGES for _ in range(2)]
    shuffled = requests[:]
    random.Random(5).shuffle(shuffled)
    outcomes = []
    for order in (requests, shuffled):
        engine = ScriptedEngine.parse(model)
        seen: dict[str, list[str]] = {}
        for request in order:
            seen.setdefault(str(request.messages), []).append(_outcome(engine, request))
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1]
    assert len({outcome for seen in outcomes[0].values() for outcome in seen}) >= 4


def test_seed_changes_what_fails() -> None:
    first, second = (
        [_outcome(ScriptedEngine.parse(f"grocery?seed={seed}&empty=0.5"), _request(message))
         for message in MESSAGES]
        for seed in (1, 2)
    )  # fmt: skip
    assert first != second


@pytest.mark.parametrize(
    ("setting", "error", "status"),
    [
        ("rate_limit", RateLimitError, 429),
        ("server_error", ServerError, 500),
        ("timeout", TimeoutError, 504),
    ],
)
def test_refusals_are_what_a_provider_would_raise(
    setting: str, error: type[LM15Error], status: int
) -> None:
    with pytest.raises(error) as caught:
        ScriptedEngine.parse(f"grocery?{setting}=1").complete(_request("hi"))
    assert caught.value.status == status
    assert (caught.value.retry_after is not None) == (setting == "rate_limit")


def test_refusals_come_as_often_as_set() -> None:
    engine = ScriptedEngine.parse("grocery?rate_limit=0.3")
    outcomes = [_outcome(engine, _request(f"message {number}")) for number in range(1000)]
    assert 250 < outcomes.count("RateLimitError") < 350


def test_retry_of_a_refused_request_is_drawn_anew() -> None:
    engine = ScriptedEngine.parse("grocery?rate_limit=0.5")
    outcomes = [_outcome(engine, _request("hi")) for _ in range(20)]
    assert 0 < outcomes.count("RateLimitError") < 20


def test_spoiled_answers_are_cut_wrapped_or_lost() -> None:
    def answered(setting: str) -> Response:
        return ScriptedEngine.parse(f"grocery?{setting}=1").complete(_request("hi"))

    whole = '{"agent": "responder"}'
    assert answered("noise").finish_reason == "stop"
    truncated = answered("truncated")
    assert truncated.finish_reason == "length"
    assert truncated.text
    assert whole.startswith(truncated.text)
    with pytest.raises(json.JSONDecodeError):
        json.loads(answered("invalid_json").text or "")
    assert answered("empty").text == ""


def test_what_is_answered_does_not_depend_on_how_often_it_was_asked() -> None:
    engine = ScriptedEngine.parse(SPOILING)
    for message in MESSAGES[:20]:
        assert _outcome(engine, _request(message)) == _outcome(engine, _request(message))


def test_noise_gives_another_answer_that_fits_the_schema() -> None:
    right = ScriptedEngine.parse("grocery")
    wrong = ScriptedEngine.parse("grocery?noise=1&seed=4")
    labels = {"search", "selector", "preferences", "cart", "responder"}
    for message in MESSAGES[:20]:
        request = _request(message)
        meant, slipped = (json.loads(each.complete(request).text or "") for each in (right, wrong))
        assert slipped != meant
        assert slipped["agent"] in labels


def test_noise_comes_as_often_as_set_and_depends_on_the_sampling_seed() -> None:
    right, noisy = ScriptedEngine.parse("grocery"), ScriptedEngine.parse("grocery?noise=0.3")
    answers = [noisy.complete(_request("Find eggs.", seed)).text for seed in range(500)]
    meant = right.complete(_request("Find eggs.")).text
    assert 110 < sum(answer != meant for answer in answers) < 190


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_agent_answers_in_its_schema_with_and_without_noise(name: str) -> None:
    agent = AGENTS[name]
    inputs = {
        "message": "Add two of these, I am vegan.", "request": "two vegan ones", "history": "",
        "preferences": "none", "agent": "cart", "brief": "Add p-1.", "events": ["Added tofu"],
        "previous": None, "known": [],
        "cart": [{"product_id": "p-2", "name": "Milk", "quantity": 1}],
        "shown": [{"id": "p-1", "name": "Tofu"}],
        "candidates": [{"id": "p-1", "name": "Tofu", "price": 1.0, "size": "200 g"}],
    }  # fmt: skip
    needed = {field: inputs[field] for field in agent.signature.input_fields}

    async def answers() -> list[dict[str, Any]]:
        found = []
        for noise in (0, 1):
            settings = ModelSettings(model=f"scripted:grocery?noise={noise}")
            lm = LanguageModel(settings, Role.TASK, Ledger())
            found.append(await agent.call(Prompt(name, "Do it."), lm, needed, 1))
        return found

    meant, slipped = asyncio.run(answers())
    assert meant.keys() == agent.signature.output_fields.keys()
    assert slipped.keys() == meant.keys()


def test_unknown_schema_gets_its_smallest_instance() -> None:
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "level": {"enum": ["low", "high"]},
            "count": {"type": "integer", "minimum": 2},
            "share": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "deep": {"$ref": "#/$defs/Deep"},
            "maybe": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "skipped": {"type": "string"},
        },
        "required": ["text", "level", "count", "share", "tags", "deep", "maybe"],
        "$defs": {"Deep": {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}},
    }
    response = ScriptedEngine.parse("grocery").complete(_free(schema))
    assert json.loads(response.text or "") == {
        "text": "", "level": "low", "count": 2, "share": 0, "tags": [], "deep": {"a": 1},
        "maybe": False,
    }  # fmt: skip


def test_request_without_a_schema_is_told_that_it_is_a_simulation() -> None:
    assert "simulation" in (ScriptedEngine.parse("grocery").complete(_free(None)).text or "")


def test_tokens_are_counted_and_limited() -> None:
    engine = ScriptedEngine.parse("grocery")
    response = engine.complete(_request("a" * 41, prompt="b" * 400))
    assert response.usage.input_tokens == 100 + 11
    assert response.usage.output_tokens == -(-len(response.text or "") // 4)

    short = engine.complete(_free(None, max_tokens=3))
    assert short.finish_reason == "length"
    assert short.usage.output_tokens == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pharmacy", "known: grocery"),
        ("grocery?nois=0.1", "unknown setting 'nois'; allowed: seed, noise, rate_limit"),
        ("grocery?noise=lots", "'noise' is 'lots'"),
        ("grocery?noise=1.5", "'noise' is '1.5'"),
        ("grocery?seed=1.5", "'seed' is '1.5'"),
        ("grocery?noise", "such as 'noise=0.1"),
        ("grocery?noise=0.1&noise=0.2", "twice"),
        ("grocery?rate_limit=0.6&timeout=0.6", "sum must be <= 1"),
    ],
)
def test_bad_settings_are_named(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        ScriptedEngine.parse(text)
    assert said in str(caught.value)
    assert f"scripted:{text}" in str(caught.value)


def test_engines_stream_what_they_answer() -> None:
    engine = ScriptedEngine.parse("grocery")
    request = _request("hello")

    async def streamed() -> list[Any]:
        return [event async for event in AsyncScriptedEngine(engine).stream(request)]

    for events in (list(engine.stream(request)), asyncio.run(streamed())):
        assert [event.type for event in events] == ["start", "delta", "end"]
        assert events[1].delta.text == engine.complete(request).text
    engine.close()
    asyncio.run(AsyncScriptedEngine(engine).aclose())


def test_language_model_recovers_from_faults() -> None:
    refusals = "rate_limit=0.2&server_error=0.1&timeout=0.1"
    faulty = f"scripted:grocery?seed=1&{refusals}&truncated=0.05&invalid_json=0.05&empty=0.05"

    async def routed(model: str, ledger: Ledger) -> list[dict[str, Any]]:
        lm = LanguageModel(ModelSettings(model=model, attempts=15, max_wait=0), Role.TASK, ledger)
        prompt = Prompt("router", "Choose the agent.")
        return await asyncio.gather(
            *(AGENTS["router"].call(prompt, lm, {"message": each}, 1) for each in MESSAGES)
        )

    ledger = Ledger()
    assert asyncio.run(routed(faulty, ledger)) == asyncio.run(routed("scripted:grocery", Ledger()))
    assert ledger.total.attempts > ledger.total.calls > len(MESSAGES)
    assert ledger.errors == {}
    assert (ledger.total.cost, ledger.total.unpriced) == (0.0, 0)


def test_dspy_knows_that_it_supports_schemas() -> None:
    settings = ModelSettings(model="scripted:grocery")
    assert LanguageModel(settings, Role.TASK, Ledger()).supports_response_schema
