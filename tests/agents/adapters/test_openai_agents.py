"""Assistants in the OpenAI Agents SDK, the real one, against an endpoint of our own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agents.models import openai_provider

from cotune.agents.adapters.adapter import Means
from cotune.agents.adapters.kinds import adapter_of
from cotune.agents.adapters.openai_agents import OpenAIAgentsAdapter
from cotune.agents.adapters.settings import OpenAIAgentsSettings
from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.budget import Budget, BudgetExhaustedError, Limits
from cotune.agents.errors import FaultError, FaultOrigin, UsageError
from cotune.agents.fingerprint import fingerprint
from cotune.agents.ledger import Ledger, Role
from cotune.agents.prompts import Prompt, PromptBundle

from .endpoint import INPUT_TOKENS, Answer, Endpoint, Request, calls, endpoint, fails, says

EXAMPLES = Path(__file__).parent / "examples"
AWKWARD = 'Say "{name}" and {{ x }}.\n\n  <b>ümläut 🛒</b> \\n %s ${y}\t\n'


def shop(request: Request) -> Answer:
    """Answer as a model that does its part: by the tools that it may call."""
    said, results = request.last, request.results
    if "list_allergens" in request.tools:
        return (
            says(f"It contains {results[-1]}")
            if results
            else calls("list_allergens", product_id="oat")
        )
    if "find_products" in request.tools:
        found = [result for result in results if "assistant" not in result]  # no handoff's
        return says(f"I found {found[-1]}") if found else calls("find_products", query=said)
    return concierge(request) if request.tools else says("Hello!")


def concierge(request: Request) -> Answer:
    """Answer as the agent that a conversation starts with."""
    said, results = request.last, request.results
    if results:
        return says(results[-1])
    tools = {
        "hello": calls("transfer_to_friendly_greeter"),
        "contain": calls("ask_allergist", input=said),
        "add": calls("add_to_cart", product_id="oat"),
    }
    return next((call for word, call in tools.items() if word in said), calls("transfer_to_search"))


@pytest.fixture
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Endpoint]:
    with endpoint(shop) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield running
        await openai_provider.shared_http_client().aclose()


def settings(**changed: Any) -> OpenAIAgentsSettings:
    given = {
        "path": "openai_agents_shop:concierge",
        "context": "openai_agents_shop:Shop",
        "folder": EXAMPLES,
    }
    return OpenAIAgentsSettings(kind="openai-agents", **{**given, **changed})


def adapter(**changed: Any) -> OpenAIAgentsAdapter:
    found = adapter_of(settings(**changed))
    assert isinstance(found, OpenAIAgentsAdapter)
    return found


async def told(*messages: str, prompts: PromptBundle | None = None, **changed: Any) -> list[Reply]:
    chosen = adapter(**changed)
    session = chosen.connect(Means(Ledger())).start(prompts or chosen.prompts, {})
    return [await session.reply(message) for message in messages]


def agents_of(reply: Reply) -> list[str]:
    return [call.agent for call in reply.calls if isinstance(call, AgentCall)]


def test_agents_are_found_through_handoffs_tools_and_cycles() -> None:
    prompts = adapter().prompts
    assert list(prompts) == ["allergist", "concierge", "search"]
    assert prompts["search"].text == "You find products. Show what you found."
    assert prompts["search"].description == "Finds products."


async def test_a_handoff_is_followed_and_what_agents_and_tools_did_is_recorded(
    served: Endpoint,
) -> None:
    (reply,) = await told("milk please")
    assert agents_of(reply) == ["concierge", "search", "search"]
    (tool,) = [call for call in reply.calls if isinstance(call, ToolCall)]
    assert (tool.tool, tool.agent, tool.arguments) == (
        "find_products",
        "search",
        {"query": "milk please"},
    )
    assert [product["id"] for product in tool.result] == ["oat", "soy"]
    last = reply.calls[-1]
    assert isinstance(last, AgentCall)
    assert last.outputs["text"] == reply.text
    assert last.inputs["messages"][0]["content"] == "milk please"


async def test_the_conversation_goes_on_with_the_agent_that_spoke_last(served: Endpoint) -> None:
    replies = await told("milk please", "more milk")
    assert agents_of(replies[1]) == ["search", "search"]
    said = [
        message["content"] for message in served.requests[-1].messages if message["role"] == "user"
    ]
    assert said == ["milk please", "more milk"]


async def test_an_agent_used_as_a_tool_is_recorded_with_its_own_tools(served: Endpoint) -> None:
    (reply,) = await told("what does it contain?")
    assert agents_of(reply) == ["concierge", "allergist", "allergist", "concierge"]
    tools = [call for call in reply.calls if isinstance(call, ToolCall)]
    assert [(call.tool, call.agent) for call in tools] == [
        ("list_allergens", "allergist"),
        ("ask_allergist", "concierge"),
    ]
    assert tools[0].result == ["gluten"]


async def test_tools_work_on_the_conversations_own_context(served: Endpoint) -> None:
    chosen = adapter()
    assistant = chosen.connect(Means(Ledger()))
    line = {"id": "soy", "quantity": 2}
    one, other = (assistant.start(chosen.prompts, {"cart": [line]}) for _ in range(2))
    await one.reply("add it")
    assert [entry["id"] for entry in one.state()["cart"]] == ["soy", "oat"]
    assert other.state() == {"cart": [line], "shown": []}


async def test_what_a_tool_raises_is_its_error(served: Endpoint) -> None:
    (reply,) = await told("caviar")
    (tool,) = [call for call in reply.calls if isinstance(call, ToolCall)]
    assert tool.error == "nothing is called caviar"
    assert tool.result is None


@pytest.mark.parametrize("message", ["milk", "what does it contain?"])
async def test_prompts_arrive_byte_for_byte_and_the_agents_stay_as_they_were(
    served: Endpoint, message: str
) -> None:
    chosen = adapter()
    before = chosen.graph.texts()
    await told(
        message, prompts=chosen.prompts.with_texts({name: f"{AWKWARD}{name}" for name in before})
    )
    assert {request.system for request in served.requests} <= {
        f"{AWKWARD}{name}" for name in before
    }
    assert len({request.system for request in served.requests}) == 2
    assert chosen.graph.texts() == before


async def test_two_hundred_conversations_under_twenty_candidates_never_mix(
    served: Endpoint,
) -> None:
    chosen = adapter()
    assistant = chosen.connect(Means(Ledger()))
    bundles = [
        chosen.prompts.with_texts(
            {name: f"{name} of candidate {number}" for name in chosen.prompts}
        )
        for number in range(20)
    ]

    async def talk(number: int) -> None:
        session = assistant.start(bundles[number % 20], {})
        kind = ("milk", "what does it contain,")[number // 20 % 2]
        for turn in range(2):
            await session.reply(f"{kind} {turn} candidate {number % 20}")

    await asyncio.gather(*(talk(number) for number in range(200)))
    assert len(served.requests) == 100 * (3 + 2) + 100 * (4 + 4)
    for request in served.requests:
        number = request.last.rpartition(" ")[2]
        agent = "allergist" if "list_allergens" in request.tools else "concierge"
        agent = "search" if "find_products" in request.tools else agent
        assert request.system == f"{agent} of candidate {number}"


async def test_usage_is_on_the_ledger_by_agent_with_its_price(served: Endpoint) -> None:
    chosen, ledger = adapter(), Ledger()
    budget = Budget(Limits())
    session = chosen.connect(Means(ledger, budget=budget)).start(chosen.prompts, {})
    await session.reply("what does it contain?")
    used = ledger.totals[Role.TASK, "allergist"]
    assert (used.calls, used.input_tokens) == (2, 2 * INPUT_TOKENS)
    assert used.cost > 0
    assert used.unpriced == 0
    assert budget.usage == ledger.total


async def test_no_call_is_made_when_the_budget_is_spent(served: Endpoint) -> None:
    chosen = adapter()
    budget = Budget(Limits(tokens=2 * INPUT_TOKENS))
    session = chosen.connect(Means(Ledger(), budget=budget)).start(chosen.prompts, {})
    with pytest.raises(BudgetExhaustedError):
        await session.reply("what does it contain?")
    assert len(served.requests) == 2


@pytest.mark.parametrize(("status", "kind"), [(500, "provider_error"), (429, "rate_limit")])
@pytest.mark.parametrize("message", ["milk", "what does it contain?"])
async def test_an_outage_is_the_providers_fault_even_where_a_tool_swallows_it(
    served: Endpoint, message: str, status: int, kind: str
) -> None:
    def out_of_order(request: Request) -> Answer:
        return shop(request) if "add_to_cart" in request.tools else fails(status)

    served.respond = out_of_order
    with pytest.raises(FaultError) as raised:
        await told(message)
    assert (raised.value.fault.origin, raised.value.fault.kind) == (FaultOrigin.PROVIDER, kind)


async def test_too_many_turns_are_the_assistants_fault(served: Endpoint) -> None:
    with pytest.raises(FaultError) as raised:
        await told("milk", max_turns=1)
    fault = raised.value.fault
    assert (fault.origin, fault.kind) == (FaultOrigin.ASSISTANT, "max_turns")


async def test_a_tool_that_does_not_exist_is_the_assistants_fault(served: Endpoint) -> None:
    served.respond = lambda request: calls("drop_tables")
    with pytest.raises(FaultError) as raised:
        await told("milk")
    fault = raised.value.fault
    assert (fault.origin, fault.kind) == (FaultOrigin.ASSISTANT, "model_behavior")


def test_instructions_that_are_a_function_are_refused_with_the_reason() -> None:
    prompts = PromptBundle.of(Prompt("Friendly_greeter", "Hi"))
    with pytest.raises(UsageError, match="are a function"):
        adapter().require(prompts, "folder")
    with pytest.raises(UsageError, match="There are: concierge"):
        adapter().require(PromptBundle.of(Prompt("nobody", "Hi")), "folder")


async def test_the_text_in_a_function_can_be_tuned(served: Endpoint) -> None:
    texts = {"Friendly_greeter": "openai_agents_shop:GREETING"}
    prompts = adapter(texts=texts).prompts
    assert prompts["Friendly_greeter"].text == "You say hello."
    await told("hello", prompts=prompts.with_texts({"Friendly_greeter": AWKWARD}), texts=texts)
    assert served.requests[-1].system == f"{AWKWARD}\n\nLines in the cart: 0"


async def test_a_text_that_would_not_be_sent_is_refused_before_a_call(served: Endpoint) -> None:
    texts = {"Friendly_greeter": "openai_agents_shop:MODEL"}
    with pytest.raises(UsageError, match="do not hold the text that is tuned"):
        await told("hello", texts=texts)
    assert len(served.requests) == 1  # the concierge's, which is sound


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("agent = 3", "is int; it must be an Agent"),
        ("agent = Agent(name='7')", "starts with a letter"),
        (
            "agent = Agent(name='a b', handoffs=[Agent(name='a-b'), Agent(name='a_b')])",
            "Two agents",
        ),
    ],
)
def test_what_cannot_be_tuned_is_said(tmp_path: Path, code: str, problem: str) -> None:
    module = f"odd_agents_{fingerprint(code)}"
    (tmp_path / f"{module}.py").write_text(f"from agents import Agent\n{code}\n", "utf-8")
    with pytest.raises(UsageError, match=problem):
        _ = adapter(path=f"{module}:agent", folder=tmp_path).prompts


def test_a_factory_is_called_and_an_unknown_handoff_is_named(tmp_path: Path) -> None:
    (tmp_path / "made_agents.py").write_text(
        """
from agents import Agent, Handoff

async def handed(context, text):
    return Agent(name="hidden", instructions="You hide.")

def build():
    hidden = Handoff("to_hidden", "", {}, handed, "hidden")
    return Agent(name="front", instructions="You are in front.", handoffs=[hidden])
""",
        "utf-8",
    )
    made = adapter(path="made_agents:build", context=None, folder=tmp_path)
    assert list(made.prompts) == ["front"]
    with pytest.raises(UsageError, match="nothing is known of its agent"):
        made.require(PromptBundle.of(Prompt("hidden", "Hi")), "folder")


async def test_no_trace_is_kept_for_anybody(
    served: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents.tracing.processors import BackendSpanExporter

    sent: list[Any] = []
    monkeypatch.setattr(BackendSpanExporter, "export", lambda self, items: sent.extend(items))
    from agents import flush_traces, trace

    chosen = adapter()
    session = chosen.connect(Means(Ledger())).start(chosen.prompts, {})
    with trace("a team's own"):
        await session.reply("what does it contain?")
    flush_traces()
    assert not sent


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # open connections
def test_one_event_loop_after_another_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint(shop) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        for _ in range(2):
            asyncio.run(told("milk"))
    assert len(running.requests) == 6


def test_other_code_is_another_assistant(tmp_path: Path) -> None:
    source = "from agents import Agent\nagent = Agent(name='one', instructions='You are one.')\n"
    path = tmp_path / "changing_agents.py"
    path.write_text(source, "utf-8")
    one = adapter(path="changing_agents:agent", context=None, folder=tmp_path)
    before = dict(one.identity())
    assert json.loads(json.dumps(before)) == before
    path.write_text(f"{source}# changed\n", "utf-8")
    assert dict(one.identity()) != before
