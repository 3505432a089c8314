"""DSPy programs as assistants, against the real library and an endpoint of our own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest

from cotune.agents.adapters.adapter import Means
from cotune.agents.adapters.dspy_predictors import signature_of
from cotune.agents.adapters.dspy_program import DspyAdapter, DspyAssistant, save_program
from cotune.agents.adapters.settings import DspySettings
from cotune.agents.assistant import AgentCall, ToolCall
from cotune.agents.errors import FaultError, FaultOrigin, UsageError
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import PromptBundle

from .endpoint import INPUT_TOKENS, Answer, Endpoint, Request, endpoint, fails, says

EXAMPLES = Path(__file__).parent / "examples"
FOUND = [{"name": "oat milk", "price": 1.95}]
AWKWARD = 'Braces {a} {{ b }}, "quotes", \\n, ünï©ode 🥛\n\n  indented\nand not'


def fields(**values: str) -> Answer:
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return says("\n\n".join([*parts, "[[ ## completed ## ]]"]))


def respond(request: Request) -> Answer:
    told = request.system
    if "next_tool_name" in told:
        done = "observation_0" in request.last
        keeps = "add_to_cart" in told
        tool = "finish" if done else "add_to_cart" if keeps else "find_products"
        given = {} if done else {"name" if keeps else "query": "oat milk"}
        return fields(next_thought="t", next_tool_name=tool, next_tool_args=json.dumps(given))
    if "`answer`" in told:
        return fields(reasoning="r", answer="Here it is.")
    return fields(product="oat milk")


def settings(name: str, folder: Path = EXAMPLES, **more: Any) -> DspySettings:
    module = "dspy_shop" if folder == EXAMPLES else "mine_dspy"
    return DspySettings(kind="dspy", path=f"{module}:{name}", folder=folder, **more)


def means(served: Endpoint) -> Means:
    ledger = Ledger()
    model = ModelSettings(model="openai/any", api_base=served.url, concurrency=64, attempts=1)
    return Means(ledger, LanguageModel(model, Role.TASK, ledger))


def connected(name: str, served: Endpoint) -> tuple[DspyAssistant, Ledger]:
    given = means(served)
    return DspyAdapter(settings(name)).connect(given), given.ledger


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for code of a test's own, forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("mine_dspy", None)


def written(folder: Path, text: str) -> Path:
    (folder / "mine_dspy.py").write_text(f"import dspy\n{text}", encoding="utf-8")
    return folder


def test_predictors_are_named_by_their_paths() -> None:
    prompts = DspyAdapter(settings("shop")).prompts
    assert list(prompts) == ["concierge", "search.extract.predict", "search.react"]
    assert prompts["concierge"].text == "Name the product that the customer wants."
    assert prompts["concierge"].description == "message, history -> product"
    assert list(DspyAdapter(settings("Keeper")).prompts) == [
        "steps.0.extract.predict",
        "steps.0.react",
    ]


def test_prompts_are_kept_as_files(tmp_path: Path) -> None:
    prompts = DspyAdapter(settings("shop")).prompts
    prompts.save(tmp_path)
    assert PromptBundle.load(tmp_path) == prompts


@pytest.mark.parametrize("name", ["shop", "Shop", "PlainShop"])
async def test_calls_tools_and_usage_are_recorded(name: str) -> None:
    with endpoint(respond) as served:
        assistant, ledger = connected(name, served)
        reply = await assistant.start(assistant.prompts, {}, 1).reply("Oat milk, please.")
    assert reply.text == "Here it is."
    route, asked, tool, finished, answered = reply.calls
    assert isinstance(route, AgentCall)
    assert (route.agent, route.outputs) == ("concierge", {"product": "oat milk"})
    assert route.inputs["message"] == "Oat milk, please."
    assert tool == ToolCall("find_products", "search.react", {"query": "oat milk"}, FOUND)
    names = [call.agent for call in (asked, finished, answered)]
    assert names == ["search.react", "search.react", "search.extract.predict"]
    read = {agent: usage.input_tokens for (_, agent), usage in ledger.totals.items()}
    assert read == {
        "concierge": INPUT_TOKENS,
        "search.react": 2 * INPUT_TOKENS,
        "search.extract.predict": INPUT_TOKENS,
    }


async def test_a_programs_own_model_is_used_and_its_usage_priced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with endpoint(respond) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        ledger = Ledger()
        assistant = DspyAdapter(settings("own_model")).connect(Means(ledger))
        await assistant.start(assistant.prompts, {}, 1).reply("Oat milk, please.")
    assert {request.body["model"] for request in served.requests} == {"gpt-4.1-mini"}
    used = {agent: usage for (_, agent), usage in ledger.totals.items()}
    assert used["search.react"].calls == 2
    assert used["search.react"].cost > 0


async def test_a_message_is_given_with_its_history() -> None:
    with endpoint(respond) as served:
        assistant, _ = connected("shop", served)
        session = assistant.start(assistant.prompts, {}, 1)
        await session.reply("Oat milk, please.")
        reply = await session.reply("And more?")
    first = reply.calls[0]
    assert isinstance(first, AgentCall)
    (before,) = first.inputs["history"]["messages"]
    assert (before["message"], before["answer"]) == ("Oat milk, please.", "Here it is.")


async def test_a_program_made_from_the_state_changes_it() -> None:
    with endpoint(respond) as served:
        assistant, _ = connected("Keeper", served)
        sessions = [assistant.start(assistant.prompts, {"cart": []}, 1) for _ in range(2)]
        await sessions[0].reply("Oat milk, please.")
    line = {"name": "oat milk", "product": "oat milk", "quantity": 1}
    assert [session.state() for session in sessions] == [{"cart": [line]}, {"cart": []}]


async def test_other_prompts_reach_the_model_and_the_users_program_keeps_its_own() -> None:
    adapter = DspyAdapter(settings("shop"))
    other = adapter.prompts.with_texts({"concierge": AWKWARD})
    adapter.require(other, "prompts")
    with endpoint(respond) as served:
        assistant, _ = connected("shop", served)
        await assistant.start(other, {}, 1).reply("Oat milk, please.")
    sent = served.requests[0].system
    # DSPy's own layout indents an instruction's lines; so it does in production.
    assert AWKWARD.replace("\n", "\n" + " " * 8) in sent
    assert adapter.prompts["concierge"].text != AWKWARD


@pytest.mark.parametrize("text", ["a\ttab", "one\n  all\n  indented", "one\u2028two", " first"])
def test_what_dspy_would_change_is_refused(text: str) -> None:
    adapter = DspyAdapter(settings("shop"))
    with pytest.raises(UsageError, match=r"here/concierge\.md would not reach the model"):
        adapter.require(adapter.prompts.only("concierge").with_texts({"concierge": text}), "here")


@pytest.mark.parametrize("name", ["shop", "PlainShop"])
async def test_conversations_never_mix_prompts(name: str) -> None:
    with endpoint(respond) as served:
        assistant, _ = connected(name, served)

        def candidate(number: int) -> PromptBundle:
            texts = dict.fromkeys(assistant.prompts, f"Candidate <{number % 20}>.")
            return assistant.prompts.with_texts(texts)

        replies = await asyncio.gather(
            *(assistant.start(candidate(n), {}, n).reply(f"<{n % 20}>") for n in range(200))
        )
    assert {reply.text for reply in replies} == {"Here it is."}
    assert len(served.requests) == 800
    routed = [request for request in served.requests if "`product` (str)" in request.system]
    for request in served.requests:
        assert request.system.count("Candidate <") == 1
    for request in (each for each in routed if "<" in each.last):
        (mine,) = (part.partition(">")[0] for part in request.last.split("<")[1:2])
        assert f"Candidate <{mine}>." in request.system


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limit"), (500, "server")])
@pytest.mark.parametrize("name", ["shop", "PlainShop", "own_model"])
async def test_an_outage_is_the_providers_fault(
    name: str, status: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with endpoint(lambda request: fails(status)) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        given = Means(Ledger()) if name == "own_model" else means(served)
        assistant = DspyAdapter(settings(name)).connect(given)
        with pytest.raises(FaultError) as failed:
            await assistant.start(assistant.prompts, {}, 0).reply("hi")
    fault = failed.value.fault
    assert fault.origin is FaultOrigin.PROVIDER
    assert kind in fault.kind or fault.kind == "provider_error"


async def test_an_outage_inside_a_tool_is_no_reply(code: Path) -> None:
    written(
        code,
        "inner = dspy.Predict('query -> product')\n"
        "async def find_products(query: str) -> str:\n"
        "    return (await inner.acall(query=query)).product\n"
        "shop = dspy.ReAct('message -> answer', tools=[find_products])\n",
    )

    def inner_fails(request: Request) -> Answer:
        return respond(request) if "answer" in request.system else fails(500)

    with endpoint(inner_fails) as served:
        assistant = DspyAdapter(settings("shop", code)).connect(means(served))
        with pytest.raises(FaultError):
            await assistant.start(assistant.prompts, {}, 0).reply("hi")


def test_the_winner_is_saved_and_loaded_with_its_demos(code: Path) -> None:
    written(
        code,
        "shop = dspy.Predict('message -> answer')\n"
        "shop.demos = [dspy.Example(message='a', answer='b').with_inputs('message')]\n",
    )
    found = DspyAdapter(settings("shop", code))
    assert list(found.prompts) == ["self"]
    save_program(
        found.settings, found.prompts.with_texts({"self": "Be brief."}), code / "out" / "won.json"
    )
    loaded = dspy.Predict("message -> answer")
    loaded.load(str(code / "out" / "won.json"))
    assert signature_of(loaded).instructions == "Be brief."
    assert [dict(demo) for demo in loaded.demos] == [{"message": "a", "answer": "b"}]


def test_a_program_is_saved_as_json_only(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.json"):
        save_program(settings("shop"), PromptBundle(), tmp_path / "won.pkl")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shop = 3", "neither a dspy.Module nor makes one"),
        ("def shop():\n    return 3", "must make a dspy.Module, found int"),
        ("def shop():\n    raise KeyError('x')", "calling 'mine_dspy:shop' as () failed"),
        ("one = dspy.Predict('a -> b')\ndef shop(state):\n    return one", "the same program"),
        ("class Empty(dspy.Module):\n    pass\nshop = Empty()", "has no predictors"),
    ],
)
def test_what_is_no_program_says_why(code: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        _ = DspyAdapter(settings("shop", written(code, text))).prompts
    assert said in str(refused.value)


async def test_fields_are_named_where_there_are_several(code: Path) -> None:
    written(code, "shop = dspy.Predict('store, message -> answer, product')")

    def both(request: Request) -> Answer:
        return fields(answer=f"Re: {request.last[:30]}", product="milk")

    with endpoint(both) as served:
        given = means(served)
        unnamed = DspyAdapter(settings("shop", code)).connect(given)
        with pytest.raises(UsageError, match=r"answer, product; name .* 'assistant\.output'"):
            await unnamed.start(unnamed.prompts, {}, 0).reply("hi")
        named = DspyAdapter(settings("shop", code, input="message", output="answer")).connect(given)
        reply = await named.start(named.prompts, {}, 0).reply("hi")
    assert reply.text.startswith("Re: [[ ## message ## ]]\nhi")
    with pytest.raises(UsageError, match="no input 'question'; it has: store, message"):
        DspyAdapter(settings("shop", code, input="question")).connect(given)


def test_other_code_or_demos_are_another_assistant(code: Path) -> None:
    found = DspyAdapter(settings("shop", written(code, "shop = dspy.Predict('a -> b')")))
    before = found.identity()
    found.source.program.predictors()[0].demos = [dspy.Example(a="1", b="2")]
    with_demo = found.identity()
    assert with_demo != before
    written(code, "shop = dspy.Predict('a -> b')  # otherwise")
    assert found.identity() != with_demo
