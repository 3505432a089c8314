"""Assistants in LangGraph, against the library itself and an endpoint of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from cotune.agents.adapters.adapter import Means
from cotune.agents.adapters.kinds import adapter_of
from cotune.agents.adapters.settings import LangGraphSettings
from cotune.agents.assistant import AgentCall, Session, ToolCall
from cotune.agents.errors import FaultError, FaultOrigin, UsageError
from cotune.agents.ledger import Ledger, Role
from cotune.agents.prompts import Prompt, PromptBundle

from .endpoint import Answer, Endpoint, Request, calls, calls_all, endpoint, fails, says

EXAMPLES = Path(__file__).parent / "examples"
MODULE = "langgraph_shop"
VARIANTS = ("graph", "graph_with_context", "build")
AWKWARD = 'Say {name}, {{ x }}, {"a": [1]}, ${y}, %s, \\n and\n\n"quotes" – für Zoë 🛒 {{'


def settings(attribute: str = "graph", prompts: str | None = "PROMPTS") -> LangGraphSettings:
    seeds = None if prompts is None else f"{MODULE}:{prompts}"
    return LangGraphSettings(
        kind="langgraph", path=f"{MODULE}:{attribute}", folder=EXAMPLES, prompts=seeds
    )


def started(
    attribute: str = "graph", prompts: PromptBundle | None = None, ledger: Ledger | None = None
) -> Session:
    adapter = adapter_of(settings(attribute))
    assistant = adapter.connect(Means(ledger or Ledger()))
    return assistant.start(prompts or adapter.prompts, {"store": "Bonn"}, 0)


def shop(request: Request) -> Answer:
    """Hand over, look on the shelves once, and answer with what was there."""
    if "transfer_to_search" in request.tools:
        return says("Hello!") if request.last == "hi" else calls("transfer_to_search")
    if request.results:
        return says(f"I found {request.results[-1]}")
    if request.last == "nothing":
        return calls("find_products", query="")
    return calls("find_products", query=request.last)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with endpoint(shop) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def candidate(number: int) -> PromptBundle:
    names = ("concierge", "search")
    return PromptBundle.of(*(Prompt(name, f"<{name} {number}> {AWKWARD}") for name in names))


def test_seed_prompts_are_the_mapping_that_the_configuration_names() -> None:
    assert sorted(adapter_of(settings()).prompts) == ["concierge", "search"]
    assert not adapter_of(settings(prompts=None)).prompts


@pytest.mark.parametrize("attribute", VARIANTS)
async def test_a_turn_is_recorded_with_agents_and_tools(attribute: str, served: Endpoint) -> None:
    ledger = Ledger()
    session = started(attribute, ledger=ledger)
    reply = await session.reply("milk")
    assert reply.text == 'I found [{"id": "p1", "name": "Oat milk", "price": 2.5}]'
    concierge, asked, tool, answered = reply.calls
    assert isinstance(concierge, AgentCall)
    assert concierge.agent == "concierge"
    assert concierge.inputs["messages"] == [{"role": "user", "content": "milk"}]
    assert concierge.outputs == {"goto": "search"}
    assert isinstance(asked, AgentCall)
    assert asked.agent == "search"
    assert asked.outputs["shown"] == ["milk"]
    found = [{"id": "p1", "name": "Oat milk", "price": 2.5}]
    assert tool == ToolCall("find_products", "search", {"query": "milk"}, found)
    assert isinstance(answered, AgentCall)
    assert answered.agent == "search"
    assert session.state() == {"store": "Bonn", "shown": ["milk"]}
    used = {agent: usage for (_, agent), usage in ledger.totals.items()}
    assert (used["concierge"].calls, used["search"].calls) == (1, 2)
    assert (used["search"].input_tokens, used["search"].output_tokens) == (22, 14)
    assert used["search"].cost > 0
    assert (Role.TASK, "search", "gpt-4.1-mini") in ledger.sent


async def test_the_next_turn_remembers_the_last(served: Endpoint) -> None:
    session = started()
    await session.reply("milk")
    await session.reply("bread")
    said = [m["content"] for m in served.requests[-1].messages if m["role"] == "user"]
    assert said == ["milk", "bread"]
    assert session.state()["shown"] == ["milk", "bread"]  # a list with a reducer does not double


async def test_what_a_tool_refuses_is_recorded(served: Endpoint) -> None:
    reply = await started().reply("nothing")
    tools = [call for call in reply.calls if isinstance(call, ToolCall)]
    assert tools == [ToolCall("find_products", "search", {"query": ""}, None, "the query is empty")]


async def test_several_tools_at_once_belong_to_who_asked(served: Endpoint) -> None:
    def respond(request: Request) -> Answer:
        if "find_products" in request.tools and not request.results:
            return calls_all(
                ("find_products", {"query": "milk"}), ("find_products", {"query": "rye"})
            )
        return shop(request)

    served.respond = respond
    reply = await started().reply("milk")
    tools = [call for call in reply.calls if isinstance(call, ToolCall)]
    assert [(call.agent, call.arguments["query"]) for call in tools] == [
        ("search", "milk"),
        ("search", "rye"),
    ]


@pytest.mark.parametrize("attribute", VARIANTS)
async def test_prompts_reach_the_model_byte_for_byte(attribute: str, served: Endpoint) -> None:
    prompts = candidate(1)
    adapter_of(settings(attribute)).require(prompts, "here")
    await started(attribute, prompts).reply("milk")
    sent = [request.messages[0]["content"] for request in served.requests]
    wanted = prompts.texts()
    assert sent == [wanted["concierge"], wanted["search"], wanted["search"]]


@pytest.mark.parametrize("attribute", VARIANTS)
async def test_candidates_never_mix(attribute: str, served: Endpoint) -> None:
    adapter = adapter_of(settings(attribute))
    assistant = adapter.connect(Means(Ledger()))

    async def talk(number: int) -> None:
        session = assistant.start(candidate(number % 20), {}, number)
        await session.reply(f"{number % 20}: milk")

    await asyncio.gather(*(talk(number) for number in range(200)))
    assert len(served.requests) == 200 * 3
    for request in served.requests:
        number = request.last.partition(":")[0]
        agent = "concierge" if "transfer_to_search" in request.tools else "search"
        assert request.messages[0]["content"] == candidate(int(number))[agent].text


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limit"), (500, "provider_error")])
async def test_an_outage_is_the_providers_fault(status: int, kind: str, served: Endpoint) -> None:
    served.respond = lambda request: fails(status)
    with pytest.raises(FaultError) as raised:
        await started().reply("milk")
    assert (raised.value.fault.origin, raised.value.fault.kind) == (FaultOrigin.PROVIDER, kind)


def write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_other_code_is_another_assistant(tmp_path: Path) -> None:
    code = (EXAMPLES / f"{MODULE}.py").read_text(encoding="utf-8")
    write(tmp_path, "lg_identity", code)
    of = LangGraphSettings(kind="langgraph", path="lg_identity:graph", folder=tmp_path)
    before = adapter_of(of).identity()
    assert adapter_of(of).identity() == before
    write(tmp_path, "lg_identity", f"{code}\nEXTRA = 1\n")
    assert adapter_of(of).identity() != before


STATE = """
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
"""


async def test_an_interrupt_asks_and_the_next_message_answers(tmp_path: Path) -> None:
    body = """
def shop(state):
    age = interrupt("How old are you?")
    return {"messages": [("ai", f"So you are {age}.")]}

graph = StateGraph(MessagesState).add_node("shop", shop).add_edge(START, "shop").compile()
"""
    write(tmp_path, "lg_interrupt", STATE + body)
    of = LangGraphSettings(kind="langgraph", path="lg_interrupt:graph", folder=tmp_path)
    session = adapter_of(of).connect(Means(Ledger())).start(PromptBundle(), {}, 0)
    assert (await session.reply("Beer, please")).text == "How old are you?"
    assert (await session.reply("42")).text == "So you are 42."


async def test_databases_and_caches_of_the_team_are_left_alone(tmp_path: Path) -> None:
    body = """
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import CachePolicy

SAVER, STORE, CACHE = InMemorySaver(), InMemoryStore(), InMemoryCache()

async def shop(state, config, *, store):
    await store.aput(("shop",), "seen", {"it": 1})
    return {"messages": [("ai", config["configurable"]["prompts"]["shop"])]}

always = CachePolicy(key_func=lambda state: b"the same")
plan = StateGraph(MessagesState).add_node("shop", shop, cache_policy=always)
graph = plan.add_edge(START, "shop").compile(checkpointer=SAVER, store=STORE, cache=CACHE)
"""
    write(tmp_path, "lg_databases", STATE + body)
    of = LangGraphSettings(kind="langgraph", path="lg_databases:graph", folder=tmp_path)
    assistant = adapter_of(of).connect(Means(Ledger()))
    for text in ("one", "two"):
        session = assistant.start(PromptBundle.of(Prompt("shop", text)), {}, 0)
        assert (await session.reply("hello")).text == text
    import lg_databases  # pyright: ignore[reportMissingImports]

    assert not lg_databases.SAVER.storage
    assert lg_databases.STORE.get(("shop",), "seen") is None


async def test_an_agent_that_is_a_graph_itself_is_one_agent(
    tmp_path: Path, served: Endpoint
) -> None:
    body = """
import langgraph_shop as shop
from langgraph.prebuilt import ToolNode, tools_condition

def build(prompts):
    async def model(state):
        said = await shop.ask(prompts["search"], state["messages"], shop.find_products)
        return {"messages": [said]}

    inner = StateGraph(MessagesState).add_node("model", model).add_edge(START, "model")
    inner.add_node("tools", ToolNode([shop.find_products])).add_edge("tools", "model")
    inner.add_conditional_edges("model", tools_condition)
    plan = StateGraph(MessagesState).add_node("search", inner.compile(name="search"))
    return plan.add_edge(START, "search").compile()
"""
    write(tmp_path, "lg_nested", STATE + body)
    of = LangGraphSettings(kind="langgraph", path="lg_nested:build", folder=tmp_path)
    ledger = Ledger()
    prompts = candidate(3).only("search")
    session = adapter_of(of).connect(Means(ledger)).start(prompts, {}, 0)
    reply = await session.reply("milk")
    assert [type(call).__name__ for call in reply.calls] == ["ToolCall", "AgentCall"]
    assert {call.agent for call in reply.calls} == {"search"}
    assert ledger.totals[Role.TASK, "search"].calls == 2


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("lg_text", "graph = 'no graph'", "neither a graph nor a function"),
        ("lg_other", "def graph(prompts): return 3", "must return a graph, found int"),
        ("lg_raises", "def graph(prompts): return prompts['more']", "KeyError: 'more'"),
        (
            "lg_messages",
            "graph = StateGraph(dict).add_node('a', print).add_edge(START, 'a').compile()",
            "has no 'messages'",
        ),
        (
            "lg_mapping",
            "PROMPTS = ['text']\ngraph = StateGraph(MessagesState)",
            "must be a mapping of nodes",
        ),
    ],
)
def test_what_is_no_assistant_is_refused(tmp_path: Path, name: str, body: str, said: str) -> None:
    write(tmp_path, name, f"{STATE}\n{body}\n")
    seeds = f"{name}:PROMPTS" if name == "lg_mapping" else None
    of = LangGraphSettings(kind="langgraph", path=f"{name}:graph", folder=tmp_path, prompts=seeds)
    with pytest.raises(UsageError, match=said):
        adapter_of(of).require(candidate(1), "here")


async def test_a_candidate_that_the_factory_cannot_take_fails_alone(tmp_path: Path) -> None:
    body = "def build(prompts): raise ValueError(prompts['search'].format())"
    write(tmp_path, "lg_format", STATE + body)
    of = LangGraphSettings(kind="langgraph", path="lg_format:build", folder=tmp_path)
    session = adapter_of(of).connect(Means(Ledger())).start(candidate(1), {}, 0)
    with pytest.raises(FaultError) as raised:
        await session.reply("hello")
    assert raised.value.fault.origin is FaultOrigin.ASSISTANT


def test_a_state_that_the_graph_does_not_have_is_refused() -> None:
    assistant = adapter_of(settings()).connect(Means(Ledger()))
    with pytest.raises(UsageError, match="has no 'city'"):
        assistant.start(candidate(1), {"city": "Bonn"}, 0)
