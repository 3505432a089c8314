from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import dspy
import pytest
from dspy.lm15 import DataPart, Message, Request, Response, ThinkingPart, Usage
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.agent import Agent
from cotune.agents.answer_form import JsonObject
from cotune.agents.compact_adapter import (
    REASKS,
    CompactAdapter,
    build_request,
    read_answer,
    render_inputs,
)
from cotune.agents.errors import Fault, FaultError, FaultOrigin, UsageError
from cotune.agents.grocery.signatures import Search
from cotune.agents.prompts import Prompt
from cotune.agents.reask import with_reminder, without_reminder


class Sort(dspy.Signature):
    """Sort it."""

    text: str = dspy.InputField()
    kind: Literal["fruit", "vegetable"] = dspy.OutputField()
    count: int = dspy.OutputField()


class Both(dspy.Signature):
    """Use both."""

    message: str = dspy.InputField()
    previous: dict | None = dspy.InputField()
    answer: str = dspy.OutputField()


RIGHT = '{"kind": "fruit", "count": 2}'


def _response(content: Any, finish_reason: Any = "stop") -> Response:
    return Response(
        id=None,
        model="fake/m",
        message=Message.assistant(content),
        finish_reason=finish_reason,
        usage=Usage(input_tokens=1, output_tokens=1),
    )


@dataclass
class FakeEngine:
    """Answers in order; keeps the requests."""

    answers: list[Response]
    requests: list[Request] = field(default_factory=list)

    def complete(self, request: Request) -> Response:
        self.requests.append(request)
        return self.answers.pop(0)


@dataclass
class AsyncFakeEngine:
    engine: FakeEngine

    async def complete(self, request: Request) -> Response:
        return self.engine.complete(request)


@pytest.fixture
def called() -> Callable[..., tuple[dict[str, Any], list[Request]]]:
    def call(*answers: Response, prompt: str = "Sort.") -> tuple[dict[str, Any], list[Request]]:
        engine = FakeEngine(list(answers))
        lm = dspy.LM("fake/m", engine=engine, async_engine=AsyncFakeEngine(engine), cache=False)
        agent = Agent("sorter", Sort)
        answer = asyncio.run(agent.call(Prompt("sorter", prompt), lm, {"text": "figs"}, 5))
        return answer, engine.requests

    return call


def test_placeholders_are_filled_from_the_inputs_of_the_same_name(called: Any) -> None:
    _, (request,) = called(_response(RIGHT), prompt="Sort {{ text }} and {{text}}.")
    assert request.system == "Sort figs and figs."
    with pytest.raises(UsageError, match="placeholder 'store'"):
        called(_response(RIGHT), prompt="Sort for {{ store }}.")


def test_request_is_prompt_inputs_and_schema_and_nothing_else(called: Any) -> None:
    answer, (request,) = called(_response(RIGHT), prompt="Sort.\n\nKeep {braces} as they are.")
    assert answer == {"kind": "fruit", "count": 2}
    assert request.system == "Sort.\n\nKeep {braces} as they are."
    assert [message.text for message in request.messages] == ["figs"]
    assert request.config.seed == 5
    format_ = request.config.response_format
    assert format_ is not None
    assert (format_["type"], format_["name"], format_["strict"]) == ("json_schema", "Sort", True)
    schema: Any = format_["schema"]
    assert schema["required"] == ["kind", "count"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["kind"]["enum"] == ["fruit", "vegetable"]


@given(st.text(st.sampled_from(list("ab \t\n{}%\\\"'é🥛")), min_size=1).filter(str.strip))
def test_a_prompt_is_sent_as_it_is(text: str) -> None:
    engine = FakeEngine([_response(RIGHT)])
    lm = dspy.LM("fake/m", engine=engine, async_engine=AsyncFakeEngine(engine), cache=False)
    asyncio.run(Agent("sorter", Sort).call(Prompt("sorter", text), lm, {"text": "figs"}, 5))
    assert engine.requests[0].system == text


def test_demonstrations_are_earlier_exchanges() -> None:
    demos = [{"text": "kale", "kind": "vegetable", "count": 1}]
    request = build_request("fake/m", {}, Sort, demos, {"text": "figs"})
    assert [(message.role, message.text) for message in request.messages] == [
        ("user", "kale"),
        ("assistant", '{"kind": "vegetable", "count": 1}'),
        ("user", "figs"),
    ]


def test_several_inputs_are_named_lines_and_values_are_json() -> None:
    inputs = {"message": "größer\nbitte", "previous": {"product": "käse", "diet": []}}
    assert render_inputs(Both, inputs) == (
        'message: größer\nbitte\nprevious: {"product": "käse", "diet": []}'
    )
    assert render_inputs(Both, {"message": "x", "previous": None}) == "message: x\nprevious: null"


@pytest.mark.parametrize(
    "spoiled",
    [
        _response(""),
        _response("Sure: fruit"),
        _response('{"kind": "fr', "length"),
        _response('{"kind": "stone", "count": 2}'),
        _response('{"kind": "fruit"}'),
        _response('{"kind": "fruit", "count": 2, "more": 1}'),
    ],
)
def test_unusable_answer_is_asked_for_again_with_a_changed_request(
    called: Any, spoiled: Response
) -> None:
    answer, (first, second) = called(spoiled, _response(RIGHT))
    assert answer == {"kind": "fruit", "count": 2}
    assert second.system == first.system
    assert second.config.seed != first.config.seed
    assert second.messages[-1].text.startswith("figs")
    assert second.messages[-1].text != first.messages[-1].text


@pytest.mark.parametrize(
    ("spoiled", "origin", "kind"),
    [
        (_response(""), FaultOrigin.PROVIDER, "empty_reply"),
        (_response(RIGHT, "length"), FaultOrigin.ASSISTANT, "truncated"),
        (_response("[1]"), FaultOrigin.ASSISTANT, "invalid_output"),
    ],
)
def test_asking_again_has_an_end(
    called: Any, spoiled: Response, origin: FaultOrigin, kind: str
) -> None:
    answers = [spoiled] * (REASKS + 1)
    with pytest.raises(FaultError) as caught:
        called(*answers)
    assert caught.value.fault.origin is origin
    assert caught.value.fault.kind == kind
    assert caught.value.fault.message.startswith("sorter: ")
    assert "sorter" in str(caught.value)


def test_without_a_seed_no_two_attempts_are_the_same_and_each_says_what_was_wrong() -> None:
    engine = FakeEngine([_response("Figs!"), _response("Figs!"), _response(RIGHT)])
    lm = dspy.LM("fake/m", engine=engine, async_engine=AsyncFakeEngine(engine), cache=False)
    call = CompactAdapter().acall(lm, {"temperature": 0.0}, Sort, [], {"text": "figs"})
    assert asyncio.run(call) == [json.loads(RIGHT)]
    texts = [request.messages[-1].text or "" for request in engine.requests]
    assert len(set(texts)) == 3
    assert [without_reminder(text) for text in texts] == ["figs"] * 3
    assert all("not in the output schema: Invalid JSON" in text for text in texts[1:])
    assert "Attempt 3 of 3" in texts[2]


@given(st.text(), st.text())
def test_a_reminder_can_be_taken_off_again(text: str, reason: str) -> None:
    assert without_reminder(with_reminder(text, 2, 3, reason)) == text


def test_thoughts_beside_the_answer_are_ignored() -> None:
    response = _response([ThinkingPart("Figs are fruit."), *Message.assistant(RIGHT).parts])
    assert read_answer(JsonObject(Sort), response) == {"kind": "fruit", "count": 2}


def test_answer_that_the_engine_has_parsed_already_is_read() -> None:
    response = _response([DataPart(value=json.loads(RIGHT))])
    assert read_answer(JsonObject(Sort), response) == {"kind": "fruit", "count": 2}


def test_fault_names_the_field() -> None:
    fault = read_answer(JsonObject(Sort), _response('{"kind": "fruit", "count": "many"}'))
    assert isinstance(fault, Fault)
    assert "count" in fault.message


def test_answers_are_json_values() -> None:
    answer = read_answer(
        JsonObject(Search),
        _response(
            '{"product": "tofu", "quantity": 2, "size": "", "brand": "", "diet": ["vegan"],'
            ' "max_price": null, "exclude": [], "store": ""}'
        ),
    )
    assert isinstance(answer, dict)
    assert json.loads(json.dumps(answer)) == answer
    assert answer["diet"] == ["vegan"]
