"""The benchmark of simulations runs whole on a tiny load; what it measures is not tested."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from cotune.agents.budget import Budget, Limits
from cotune.agents.grocery.assistant import PROMPTS
from cotune.agents.grocery.signatures import AGENTS
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import PromptBundle
from cotune.experiments.benchmarks import simulate
from cotune.experiments.benchmarks.openai_server import (
    TEXT,
    Answer,
    example_of,
    right_answer,
    served_by,
    server_process,
    serving,
)
from cotune.experiments.benchmarks.pair_assistant import CALLS
from cotune.experiments.benchmarks.simulate import BARE, COTUNE, THREADS, Load, measure
from cotune.experiments.benchmarks.ways import MODEL

TINY = Load(2, 0.001)
INPUTS: Mapping[str, Mapping[str, Any]] = {
    name: dict.fromkeys(agent.signature.input_fields, "milk") for name, agent in AGENTS.items()
}


def _lm(address: str, **settings: Any) -> LanguageModel:
    connected = ModelSettings(model=MODEL, api_base=address, **settings)
    return LanguageModel(connected, Role.TASK, Ledger(), Budget(Limits(rollouts=1)))


async def _call(lm: LanguageModel, agent: str) -> dict[str, Any]:
    return await AGENTS[agent].call(PromptBundle.load(PROMPTS)[agent], lm, INPUTS[agent], 0)


@pytest.mark.parametrize("agent", AGENTS)
async def test_the_server_answers_in_the_schema_of_the_request(agent: str) -> None:
    async with serving(right_answer) as address:
        lm = _lm(address)
        outputs = await _call(lm, agent)
        await lm.aclose()
    assert outputs.keys() == AGENTS[agent].signature.output_fields.keys()


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        ({"type": "string"}, TEXT),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "number"}, 0),
        ({"enum": ["b", "a"]}, "b"),
        ({"const": None}, None),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, False),
        (
            {
                "type": "object",
                "properties": {"line": {"$ref": "#/$defs/Line"}, "lines": {"type": "array"}},
                "$defs": {"Line": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            },
            {"line": {"n": 0}, "lines": []},
        ),
    ],
)
def test_examples_are_the_simplest_value(schema: dict[str, Any], example: Any) -> None:
    assert example_of(schema) == example


async def test_a_test_can_say_what_the_server_answers() -> None:
    refusals = iter([Answer({"error": {"message": "slower"}}, 429, {"Retry-After": "0"})])

    def respond(request: Mapping[str, Any]) -> Answer:
        return next(refusals, None) or right_answer(request)

    async with serving(respond) as address:
        lm = _lm(address, max_wait=0)
        assert await _call(lm, "router") == {"agent": "search"}
        await lm.aclose()
    assert (lm.ledger.total.calls, lm.ledger.total.attempts) == (1, 2)


async def test_requests_arrive_in_pieces_and_together() -> None:
    body = json.dumps({"model": "m", "messages": [{"content": "hi"}]}).encode()
    request = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    async with serving(right_answer) as address:
        port = int(address.removesuffix("/v1").rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request[:20])
        await writer.drain()
        await asyncio.sleep(0)
        writer.write(request[20:] + request)
        heads = [await _read_answer(reader) for _ in range(2)]
        writer.close()
        await writer.wait_closed()
    assert heads == [TEXT, TEXT]


async def _read_answer(reader: asyncio.StreamReader) -> str:
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    answer = json.loads(await reader.readexactly(length))
    return answer["choices"][0]["message"]["content"]


def test_the_server_runs_in_a_process_of_its_own_and_ends() -> None:
    with server_process(0.0) as address:
        assert served_by(address).requests == 0
        assert served_by(address).cpu_seconds > 0
    with pytest.raises(OSError, match="refused"):
        served_by(address)


@pytest.mark.parametrize("way", [COTUNE, BARE, THREADS])
def test_every_way_makes_the_same_calls(way: str) -> None:
    measured = measure(way, TINY, rounds=2)
    assert measured.conversations == 4
    assert measured.calls == 4 * CALLS == 32
    assert measured.requests == measured.calls


@pytest.fixture
def tiny_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "PLAN", {TINY: {COTUNE: 1, BARE: 1}})


@pytest.mark.usefixtures("tiny_plan")
def test_the_numbers_can_be_had_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["simulate", "--json"])
    simulate.main()
    printed = json.loads(capsys.readouterr().out)
    assert [row["way"] for row in printed["measured"]] == [COTUNE, BARE]
    assert printed["measured"][0]["load"] == {"concurrency": 2, "latency": 0.001}


@pytest.mark.usefixtures("tiny_plan")
def test_the_table_compares_with_bare_calls(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["simulate"])
    simulate.main()
    printed = capsys.readouterr().out
    assert COTUNE in printed
    assert BARE in printed


def test_lost_calls_do_not_pass_for_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "CALLS", CALLS + 1)
    with pytest.raises(RuntimeError, match="should have made 18"):
        measure(BARE, TINY, rounds=1)
