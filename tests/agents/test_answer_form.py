"""The form of an answer: bare words where a grammar can force them, JSON everywhere else."""

from __future__ import annotations

import asyncio
import json
from enum import StrEnum
from typing import Any, Literal

import dspy
import pytest
from dspy.lm15 import Message, Request, Response, Usage

from cotune.agents.agent import Agent
from cotune.agents.answer_form import BareWord, JsonObject, bare_word, form_for
from cotune.agents.errors import FaultError
from cotune.agents.grocery.signatures import Route, Search
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import Prompt

PROMPT = 'Route.\n\n## Examples\nInput: Hi!\nOutput: {"agent": "responder"}'


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


def _returning(annotation: Any, *more: str) -> type[dspy.Signature]:
    fields: dict[str, Any] = {"text": (str, dspy.InputField())}
    fields |= {name: (annotation, dspy.OutputField()) for name in ("answer", *more)}
    return dspy.make_signature(fields, "Answer.")


def _model(name: str) -> LanguageModel:
    return LanguageModel(
        ModelSettings(model=name), Role.TASK, Ledger(), endpoint="http://127.0.0.1:1/v1"
    )


@pytest.mark.parametrize(
    ("annotation", "words"),
    [(Literal["a", "b c"], ("a", "b c")), (Size, ("small", "large"))],
)
def test_a_single_choice_of_words_can_be_bare(annotation: Any, words: tuple[str, ...]) -> None:
    assert bare_word(_returning(annotation)) == BareWord("answer", words)


@pytest.mark.parametrize(
    "signature",
    [
        Search,
        _returning(str),
        _returning(bool),
        _returning(Literal[1, 2]),
        _returning(Literal["a", None]),
        _returning(Literal["a", "b\nc"]),
        _returning(Literal["a", " b"]),
        _returning(Literal["a", ""]),
        _returning(Literal["a", "b"], "reason"),
    ],
)
def test_anything_else_is_json(signature: type[dspy.Signature]) -> None:
    assert bare_word(signature) is None
    assert form_for(signature, _model("local:qwen2.5-coder-1.5b")) == JsonObject(signature)


def test_only_embedded_models_are_sent_a_grammar() -> None:
    assert isinstance(form_for(Route, _model("local:qwen2.5-coder-1.5b")), BareWord)
    for other in ("openai/m", "scripted:grocery"):
        assert form_for(Route, _model(other)) == JsonObject(Route)


def test_words_of_the_grammar_are_quoted() -> None:
    grammar = BareWord("x", ('say "a"', "b\\c", "größer")).constraint()["extensions"]["grammar"]
    assert grammar == r'root ::= "say \"a\"" | "b\\c" | "größer"'


@pytest.mark.parametrize("output", ["search", '"search"', "[1]", '{"other": 1}'])
def test_an_example_without_the_field_is_sent_as_it_stands(output: str) -> None:
    assert BareWord("agent", ("search",)).write(output) == output


@pytest.mark.parametrize("word", ["search", "cart"])
def test_the_two_forms_mean_the_same(word: str) -> None:
    bare = bare_word(Route)
    assert bare is not None
    output = json.dumps({"agent": word})
    assert bare.read(bare.write(output)) == JsonObject(Route).read(output) == {"agent": word}


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> tuple[LanguageModel, list[str], list[Request]]:
    """Return an embedded model that gives the answers in the list, and what it is asked."""
    answers: list[str] = []
    requests: list[Request] = []

    async def respond(_: LanguageModel, request: Request) -> Response:
        requests.append(request)
        return Response(
            id=None,
            model="m",
            message=Message.assistant(answers.pop(0)),
            finish_reason="stop",
            usage=Usage(input_tokens=1, output_tokens=1),
        )

    monkeypatch.setattr(LanguageModel, "respond", respond)
    return _model("local:qwen2.5-coder-1.5b"), answers, requests


def test_an_embedded_model_sees_and_gives_bare_words(answered: Any) -> None:
    lm, answers, requests = answered
    answers.append("cart\n")
    agent = Agent("router", Route)
    got = asyncio.run(agent.call(Prompt("router", PROMPT), lm, {"message": "Pay."}, 1))
    assert got == {"agent": "cart"}
    said = [(message.role, message.text) for message in requests[0].messages]
    assert said == [("user", "Hi!"), ("assistant", "responder"), ("user", "Pay.")]
    assert requests[0].config.response_format is None
    assert '"preferences"' in requests[0].config.extensions["grammar"]


def test_a_word_that_is_none_of_them_is_asked_for_again_and_then_a_fault(answered: Any) -> None:
    lm, answers, requests = answered
    answers += ["nobody"] * 3
    agent = Agent("router", Route)
    with pytest.raises(FaultError, match="agent: must be one of search, selector"):
        asyncio.run(agent.call(Prompt("router", "Route."), lm, {"message": "Pay."}, 1))
    assert len(requests) == 3


def test_the_form_is_part_of_what_identifies_an_agent() -> None:
    assert Agent("router", Route).interface["bare_word"] is True
    assert Agent("search", Search).interface["bare_word"] is False
