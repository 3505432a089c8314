"""Assistants in Pydantic AI, the real one, against an endpoint of our own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel

from cotune.agents.adapters.adapter import Means
from cotune.agents.adapters.kinds import adapter_of
from cotune.agents.adapters.outage import outage_of
from cotune.agents.adapters.pydantic_ai import PydanticAIAdapter
from cotune.agents.adapters.pydantic_ai_watch import MODELS
from cotune.agents.adapters.settings import PydanticAISettings
from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.budget import Budget, BudgetExhaustedError, Limits
from cotune.agents.errors import FaultError, FaultOrigin, UsageError
from cotune.agents.ledger import Ledger, Role
from cotune.agents.prompts import Prompt, PromptBundle

from .endpoint import INPUT_TOKENS, Answer, Endpoint, Request, calls, endpoint, fails, says

EXAMPLES = Path(__file__).parent / "examples"
MODULE = "pydantic_ai_shop"
AGENTS = {"concierge": f"{MODULE}:concierge", "search": f"{MODULE}:search"}
AWKWARD = '\t Say "{name}" and {{ x }}.\n\n  <b>ümläut 🛒</b> \\n %s ${y}\t\n'


def shop(request: Request) -> Answer:
    """Answer as a model that does its part: by the tools that it may call."""
    said, results = request.last, request.results
    if "find_products" in request.tools:
        return says(f"I found {results[-1]}") if results else calls("find_products", query=said)
    if "add" in said:
        return says("Added.") if results else calls("add_to_cart", product_id="oat")
    return says(results[-1]) if results else calls("ask_search", wish=said)


@pytest.fixture
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Endpoint]:
    with endpoint(shop) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield running
        for model in MODELS.get(asyncio.get_running_loop(), {}).values():
            assert isinstance(model, OpenAIChatModel)
            await model.client.close()


def adapter(**changed: Any) -> PydanticAIAdapter:
    given = {"path": f"{MODULE}:concierge", "agents": AGENTS, "deps": f"{MODULE}:Shop"}
    found = adapter_of(
        PydanticAISettings(kind="pydantic-ai", **{"folder": EXAMPLES, **given, **changed})
    )
    assert isinstance(found, PydanticAIAdapter)
    return found


ENTRIES: list[dict[str, Any]] = [{}, {"path": f"{MODULE}:reply", "deps": None}]
entries = pytest.mark.parametrize("entry", ENTRIES, ids=["agent", "function"])


async def told(*messages: str, prompts: PromptBundle | None = None, **changed: Any) -> list[Reply]:
    chosen = adapter(**changed)
    session = chosen.connect(Means(Ledger())).start(prompts or chosen.prompts, {})
    return [await session.reply(message) for message in messages]


def test_agents_are_those_that_the_configuration_names() -> None:
    assert adapter().prompts.texts() == {
        "concierge": "You are a shop's concierge. Ask search for products.",
        "search": "You find products. Show what you found.",
    }
    assert list(adapter(agents={}).prompts) == ["concierge"]


@entries
async def test_what_agents_and_tools_did_is_recorded(
    served: Endpoint, entry: dict[str, Any]
) -> None:
    (reply,) = await told("milk please", **entry)
    agents = [call.agent for call in reply.calls if isinstance(call, AgentCall)]
    assert agents == ["concierge", "search", "search", "concierge"]
    found, asked = (call for call in reply.calls if isinstance(call, ToolCall))
    assert (found.tool, found.agent, found.arguments) == (
        "find_products",
        "search",
        {"query": "milk please"},
    )
    assert [product["id"] for product in found.result] == ["oat", "soy"]
    assert (asked.tool, asked.agent, asked.result) == ("ask_search", "concierge", reply.text)
    last = reply.calls[-1]
    assert isinstance(last, AgentCall)
    assert last.outputs["text"] == reply.text
    assert last.inputs["messages"][0] == {"role": "user", "content": "milk please"}


@entries
async def test_messages_and_world_are_kept_from_turn_to_turn(
    served: Endpoint, entry: dict[str, Any]
) -> None:
    chosen = adapter(**entry)
    assistant = chosen.connect(Means(Ledger()))
    line = {"id": "soy", "quantity": 2}
    one, other = (assistant.start(chosen.prompts, {"cart": [line], "shown": []}) for _ in range(2))
    await one.reply("add it")
    await one.reply("add another")
    assert [entry["id"] for entry in one.state()["cart"]] == ["soy", "oat", "oat"]
    assert other.state() == {"cart": [line], "shown": []}
    said = [m["content"] for m in served.requests[-1].messages if m["role"] == "user"]
    assert said == ["add it", "add another"]
    assert served.requests[-1].system.endswith("Lines in the cart: 3")


async def test_what_a_tool_refuses_is_its_error(served: Endpoint) -> None:
    (reply,) = await told("caviar")
    tool = next(call for call in reply.calls if isinstance(call, ToolCall))
    assert (tool.error, tool.result) == ("nothing is called caviar", None)


async def test_prompts_arrive_byte_for_byte_and_the_agents_stay_as_they_were(
    served: Endpoint,
) -> None:
    chosen = adapter()
    before = chosen.prompts
    changed = before.with_texts({name: f"{AWKWARD}{name}\n" for name in before})
    await told("milk", "milk again", prompts=changed)
    for request in served.requests:
        sent = [m["content"] for m in request.messages if m["role"] == "system"]
        name = "search" if "find_products" in request.tools else "concierge"
        assert sent[0] == f"{AWKWARD}{name}\n"
        assert sent[1:] == (["Lines in the cart: 0"] if name == "concierge" else [])
    assert adapter().prompts == before


@entries
async def test_two_hundred_conversations_under_twenty_candidates_never_mix(
    served: Endpoint, entry: dict[str, Any]
) -> None:
    chosen = adapter(**entry)
    assistant = chosen.connect(Means(Ledger()))
    bundles = [
        chosen.prompts.with_texts({name: f"{name} of candidate {number}" for name in AGENTS})
        for number in range(20)
    ]

    async def talk(number: int) -> None:
        session = assistant.start(bundles[number % 20], {})
        await session.reply(f"milk for candidate {number % 20}")

    await asyncio.gather(*(talk(number) for number in range(200)))
    assert len(served.requests) == 200 * 4
    for request in served.requests:
        agent = "search" if "find_products" in request.tools else "concierge"
        number = request.last.rpartition(" ")[2]
        assert request.system.split("\n")[0] == f"{agent} of candidate {number}"


async def test_usage_is_on_the_ledger_by_agent_with_its_price(served: Endpoint) -> None:
    chosen, ledger = adapter(), Ledger()
    budget = Budget(Limits())
    session = chosen.connect(Means(ledger, budget=budget)).start(chosen.prompts, {})
    await session.reply("milk")
    used = ledger.totals[Role.TASK, "search"]
    assert (used.calls, used.input_tokens) == (2, 2 * INPUT_TOKENS)
    assert used.cost > 0
    assert budget.usage == ledger.total


async def test_no_call_is_made_when_the_budget_is_spent(served: Endpoint) -> None:
    chosen = adapter()
    budget = Budget(Limits(tokens=2 * INPUT_TOKENS))
    session = chosen.connect(Means(Ledger(), budget=budget)).start(chosen.prompts, {})
    with pytest.raises(BudgetExhaustedError):
        await session.reply("milk")
    assert len(served.requests) == 2


@pytest.mark.parametrize(("status", "kind"), [(500, "provider_error"), (429, "rate_limit")])
async def test_an_outage_is_the_providers_fault_even_where_a_tool_swallows_it(
    served: Endpoint, status: int, kind: str
) -> None:
    def out_of_order(request: Request) -> Answer:
        return fails(status) if "find_products" in request.tools else shop(request)

    served.respond = out_of_order
    with pytest.raises(FaultError) as raised:
        await told("milk")
    assert (raised.value.fault.origin, raised.value.fault.kind) == (FaultOrigin.PROVIDER, kind)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelHTTPError(503, "claude"), "provider_error"),
        (ModelHTTPError(401, "claude"), "refused"),
        (ModelConnectionError("claude", "no route"), "connection"),
    ],
)
def test_outages_of_any_provider_are_known(error: Exception, kind: str) -> None:
    fault = outage_of(error)
    assert fault is not None
    assert fault.kind == kind


async def test_a_tool_that_does_not_exist_is_the_assistants_fault(served: Endpoint) -> None:
    served.respond = lambda request: calls("drop_tables")
    with pytest.raises(FaultError) as raised:
        await told("milk")
    fault = raised.value.fault
    assert (fault.origin, fault.kind) == (FaultOrigin.ASSISTANT, "model_behavior")


async def test_a_prompt_that_would_not_be_sent_is_refused_before_a_call(served: Endpoint) -> None:
    chosen = adapter()
    session = chosen.connect(Means(Ledger())).start(chosen.prompts, {})
    with (
        chosen.agents["concierge"].override(instructions="Something else."),
        pytest.raises(UsageError, match="run without the instructions that are tuned"),
    ):
        await session.reply("milk")
    assert not served.requests


def test_prompts_of_other_agents_are_refused() -> None:
    with pytest.raises(UsageError, match="It names: concierge, search"):
        adapter().require(PromptBundle.of(Prompt("nobody", "Hi")), "folder")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"path": f"{MODULE}:PRODUCTS"}, "is not a callable object"),
        ({"path": f"{MODULE}:Agent"}, "assistant.path"),
        ({"path": f"{MODULE}:reply"}, "assistant.deps is for an agent"),
        ({"path": f"{MODULE}:reply", "deps": None, "agents": {}}, "name its agents"),
        ({"agents": {"search": f"{MODULE}:PRODUCTS"}}, "is list, not an agent"),
    ],
)
def test_what_cannot_be_talked_to_is_said(changed: dict[str, Any], problem: str) -> None:
    chosen = adapter(**changed)
    with pytest.raises(UsageError, match=problem):
        _ = chosen.entry, chosen.prompts


@pytest.mark.parametrize(
    ("given", "found"),
    [("instructions=lambda: 'Hi'", "only functions"), ("system_prompt=('a', 'b')", "2 system")],
)
def test_an_agent_without_one_text_is_refused(tmp_path: Path, given: str, found: str) -> None:
    module = f"textless_{found[0]}"
    code = f"from pydantic_ai import Agent\nagent = Agent({given})\n"
    (tmp_path / f"{module}.py").write_text(code, "utf-8")
    with pytest.raises(UsageError, match=f"no literal instructions, and {found}"):
        _ = adapter(path=f"{module}:agent", agents={}, deps=None, folder=tmp_path).prompts


def test_other_code_is_another_assistant(tmp_path: Path) -> None:
    source = "from pydantic_ai import Agent\nagent = Agent(instructions='You are one.')\n"
    path = tmp_path / "changing_pydantic.py"
    path.write_text(source, "utf-8")
    one = adapter(path="changing_pydantic:agent", agents={}, deps=None, folder=tmp_path)
    before = dict(one.identity())
    path.write_text(f"{source}# changed\n", "utf-8")
    assert dict(one.identity()) != before
