"""A Python function as the assistant: what it is given, what is recorded, how it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.adapters.adapter import Means
from cotune.agents.adapters.function import Conversation, FunctionAdapter, FunctionAssistant
from cotune.agents.adapters.settings import FunctionSettings
from cotune.agents.assistant import AgentCall, ToolCall
from cotune.agents.errors import FaultError, FaultOrigin, UsageError
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.agents.recording import agent_call, tool_call

from .endpoint import INPUT_TOKENS, Answer, Endpoint, Request, endpoint, fails, says

EXAMPLES = Path(__file__).parent / "examples"
PROMPTS = PromptBundle.of(Prompt("concierge", "Name the product."), Prompt("search", "Answer."))
AWKWARD = 'Braces {a} {{b c}} {% if %}, "quotes", \\n, ünï©ode 🥛\n\n  indented\tline'


def respond(request: Request) -> Answer:
    is_concierge = request.system.startswith("Name")
    return says(json.dumps({"answer": "oat milk" if is_concierge else f"Here: {request.last}"}))


def shop() -> FunctionAdapter:
    return FunctionAdapter(
        FunctionSettings(kind="function", path="function_shop:reply", folder=EXAMPLES)
    )


def connected(served: Endpoint, **settings: Any) -> tuple[FunctionAssistant, Ledger]:
    ledger = Ledger()
    model = ModelSettings(
        model="openai/any", api_base=served.url, concurrency=64, attempts=1, **settings
    )
    lm = LanguageModel(model, Role.TASK, ledger)
    return shop().connect(Means(ledger, lm)), ledger


def written(folder: Path, code: str) -> FunctionAdapter:
    (folder / "mine.py").write_text(code, encoding="utf-8")
    return FunctionAdapter(FunctionSettings(kind="function", path="mine:reply", folder=folder))


Said = Callable[[str, Mapping[str, str], Conversation], str | Awaitable[str]]


def holding(reply: Said, prompts: PromptBundle = PROMPTS, **state: Any):
    return FunctionAssistant(reply).start(prompts, state, 3)


async def test_agents_tools_and_state_are_recorded() -> None:
    with endpoint(respond) as served:
        assistant, ledger = connected(served)
        session = assistant.start(PROMPTS, {"shown": ["rye bread"]}, 1)
        reply = await session.reply("Have you oat milk?")
    asked, found, answered = reply.calls
    assert asked == AgentCall(
        "concierge", {"message": "Have you oat milk?"}, {"answer": "oat milk"}
    )
    product = {"name": "oat milk", "price": 1.95}
    assert found == ToolCall("find_products", "", {"query": "oat milk"}, [product])
    assert isinstance(answered, AgentCall)
    assert answered.agent == "search"
    assert reply.text == answered.outputs["answer"]
    assert session.state() == {"shown": ["rye bread", "oat milk"]}
    assert {agent: usage.input_tokens for (_, agent), usage in ledger.totals.items()} == {
        "concierge": INPUT_TOKENS,
        "search": INPUT_TOKENS,
    }


async def test_a_function_is_given_prompts_byte_for_byte() -> None:
    session = holding(
        lambda message, prompts, session: prompts["search"],
        PROMPTS.with_texts({"search": AWKWARD}),
    )
    assert (await session.reply("hi")).text == AWKWARD


async def test_asking_sends_the_prompt_byte_for_byte() -> None:
    text = AWKWARD.replace("\t", " ")  # dspy, which words our requests, replaces tabs
    with endpoint(respond) as served:
        assistant, _ = connected(served)
        await assistant.start(PROMPTS.with_texts({"search": text + "\nEnd."}), {}, 0).reply("hi")
    assert served.requests[1].system == text + "\nEnd."


async def test_conversations_never_mix_prompts() -> None:
    def echo(request: Request) -> Answer:
        return says(json.dumps({"answer": request.system}))

    def candidate(number: int) -> PromptBundle:
        return PROMPTS.with_texts({name: f"{name} of {number % 20}" for name in PROMPTS})

    with endpoint(echo) as served:
        assistant, _ = connected(served)
        replies = await asyncio.gather(
            *(assistant.start(candidate(n), {}, n).reply(f"hi {n}") for n in range(200))
        )
    assert [reply.text for reply in replies] == [f"search of {n % 20}" for n in range(200)]


async def test_seeds_do_not_depend_on_the_order_in_which_agents_are_asked() -> None:
    async def seeds(*agents: str) -> dict[str, list[int]]:
        async def reply(message: str, prompts: Mapping[str, str], session: Conversation) -> str:
            await asyncio.gather(*(session.ask(agent, message) for agent in agents))
            return "done"

        with endpoint(respond) as served:
            lm = connected(served)[0]._lm
            await FunctionAssistant(reply, lm).start(PROMPTS, {}, 5).reply("hi")
        found: dict[str, list[int]] = {"Name": [], "Answ": []}
        for request in served.requests:
            found[request.system[:4]].append(request.body["seed"])
        return {name: sorted(drawn) for name, drawn in found.items()}

    once = await seeds("concierge", "search", "search")
    assert once == await seeds("search", "search", "concierge")
    assert len({seed for drawn in once.values() for seed in drawn}) == 3


async def test_synchronous_functions_run_side_by_side_and_are_recorded() -> None:
    import threading

    together = threading.Barrier(40)

    def reply(message: str, prompts: Mapping[str, str], session: Conversation) -> str:
        together.wait(60)  # passes only if all forty are under way at once
        with agent_call("search", message=message) as call:
            tool_call("find", {"query": message}, error="closed")
            call.returned(found=object)
        return message

    replies = await asyncio.gather(*(holding(reply).reply(str(n)) for n in range(40)))
    assert [reply.text for reply in replies] == [str(n) for n in range(40)]
    assert replies[7].calls == (
        ToolCall("find", "search", {"query": "7"}, None, "closed"),
        AgentCall("search", {"message": "7"}, {"found": "<class 'object'>"}),
    )


async def test_nothing_is_shared_between_conversations() -> None:
    def reply(message: str, prompts: Mapping[str, str], session: Conversation) -> str:
        session.memory["seen"] = [*session.memory.get("seen", ()), message]
        session.state["cart"].append(message)
        return f"{session.memory['seen']} {[said for said, _ in session.history]}"

    cart: list[str] = []
    one, other = holding(reply, cart=cart), holding(reply, cart=cart)
    await one.reply("a")
    assert (await one.reply("b")).text == "['a', 'b'] ['a']"
    assert (await other.reply("c")).text == "['c'] []"
    assert (one.state(), other.state(), cart) == ({"cart": ["a", "b"]}, {"cart": ["c"]}, [])


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limit"), (500, "server")])
async def test_an_outage_is_the_providers_fault(status: int, kind: str) -> None:
    with endpoint(lambda request: fails(status)) as served:
        assistant, _ = connected(served)
        with pytest.raises(FaultError) as failed:
            await assistant.start(PROMPTS, {}, 0).reply("hi")
    assert failed.value.fault.origin is FaultOrigin.PROVIDER
    assert kind in failed.value.fault.kind


async def test_a_defect_is_raised_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        await holding(lambda message, prompts, session: str(1 / 0)).reply("hi")


async def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="must return text, found int"):
        await holding(lambda message, prompts, session: 3).reply("hi")  # type: ignore[arg-type, return-value]


async def test_asking_an_agent_that_is_not_there_names_those_that_are() -> None:
    async def reply(message: str, prompts: Mapping[str, str], session: Conversation) -> str:
        return await session.ask("planner", message)

    with pytest.raises(UsageError, match="no agent 'planner'; prompts: concierge, search"):
        await holding(reply).reply("hi")


async def test_asking_without_a_model_says_where_to_name_one() -> None:
    async def reply(message: str, prompts: Mapping[str, str], session: Conversation) -> str:
        return await session.ask("search", message)

    with pytest.raises(UsageError, match=r"models\.task"):
        await holding(reply).reply("hi")


def test_a_function_must_take_what_it_is_given(tmp_path: Path) -> None:
    adapter = written(tmp_path, "def reply(message):\n    return message\n")
    with pytest.raises(UsageError, match=r"must take \(message, prompts, session\)"):
        adapter.connect(Means(Ledger()))


def test_what_is_not_a_function_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'mine:reply' is not a function"):
        written(tmp_path, "reply = 3\n").connect(Means(Ledger()))


def test_other_code_is_another_assistant(tmp_path: Path) -> None:
    code = "def reply(message, prompts, session):\n    return 'a'\n"
    adapter = written(tmp_path, code)
    before = adapter.identity()
    assert before == adapter.identity()
    (tmp_path / "mine.py").write_text(code.replace("'a'", "'b'"), encoding="utf-8")
    assert adapter.identity() != before
