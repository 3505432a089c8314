"""Assistants in Google ADK, against the library itself and an endpoint of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from google.adk.flows.llm_flows.prompt import inject_session_state
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.agents.adapters.adapter import Adapter, Means
from cotune.agents.adapters.google_adk_tree import state_names
from cotune.agents.adapters.kinds import adapter_of
from cotune.agents.adapters.settings import GoogleAdkSettings
from cotune.agents.assistant import AgentCall, Session, ToolCall
from cotune.agents.errors import FaultError, FaultOrigin, UsageError
from cotune.agents.ledger import Ledger, Role
from cotune.agents.prompts import Prompt, PromptBundle

from .endpoint import Answer, Endpoint, Request, calls, endpoint, fails, says

EXAMPLES = Path(__file__).parent / "examples"
PATH = "google_adk_shop:root_agent"
AWKWARD = 'Say {name}, {{ x }}, {"a": [1]}, ${y}, %s, \\n and\n\n"quotes" – für Zoë 🛒 {{'


def shop(request: Request) -> Answer:
    """Hand over, look on the shelves once, and answer with what was there."""
    if "find_products" not in request.tools:
        return calls("transfer_to_agent", agent_name="search")
    if request.results:
        return says(f"I found {request.results[-1]}")
    words = said(request).split()
    return calls("find_products", query="" if words[-1] == "nothing" else words[-1])


def said(request: Request) -> str:
    """What the customer said last: ADK tells of other agents in messages of the user, in parts."""
    texts = [m["content"] for m in request.messages if m["role"] == "user"]
    return [text for text in texts if isinstance(text, str)][-1]


def adapter(path: str = PATH, folder: Path = EXAMPLES) -> Adapter:
    return adapter_of(GoogleAdkSettings(kind="google-adk", path=path, folder=folder))


def started(prompts: PromptBundle | None = None, ledger: Ledger | None = None) -> Session:
    shops = adapter()
    assistant = shops.connect(Means(ledger or Ledger()))
    return assistant.start(prompts or shops.prompts, {"store": "Bonn"}, 0)


def candidate(number: int) -> PromptBundle:
    concierge = f'<concierge {number}> of {{store}}, für 🛒 {{"a": [1]}} ${{y}}\n\n"quotes"'
    return PromptBundle.of(
        Prompt("concierge", concierge), Prompt("search", f"<search {number}> {AWKWARD}")
    )


def sent(prompts: PromptBundle, agent: str) -> str:
    """What must reach the model; the concierge's store is filled in, as in its own instruction."""
    return prompts[agent].text.replace("{store}", "Bonn")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with endpoint(shop) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def test_seed_prompts_are_the_instructions_in_the_tree() -> None:
    prompts = adapter().prompts
    assert sorted(prompts) == ["concierge", "search"]
    assert prompts["search"].text.startswith("You find products.")
    assert prompts["search"].description == "Finds products in the shop."


async def test_a_turn_is_recorded_with_agents_and_tools(served: Endpoint) -> None:
    ledger = Ledger()
    session = started(ledger=ledger)
    reply = await session.reply("milk")
    assert reply.text.startswith("I found")
    assert "Oat milk" in reply.text
    assert [type(call).__name__ for call in reply.calls] == [
        "AgentCall",
        "ToolCall",
        "AgentCall",
        "ToolCall",
        "AgentCall",
    ]
    concierge, over, asked, tool, answered = reply.calls
    assert isinstance(concierge, AgentCall)
    assert concierge.agent == "concierge"
    assert concierge.inputs["messages"] == [{"parts": [{"text": "milk"}], "role": "user"}]
    assert over == ToolCall("transfer_to_agent", "concierge", {"agent_name": "search"}, None)
    assert asked.agent == answered.agent == "search"
    found = [{"id": "p1", "name": "Oat milk", "price": 2.5}]
    assert tool == ToolCall("find_products", "search", {"query": "milk"}, found)
    assert session.state() == {"store": "Bonn", "shown": ["p1"]}
    used = {agent: usage for (_, agent), usage in ledger.totals.items()}
    assert (used["concierge"].calls, used["search"].calls) == (1, 2)
    assert (used["search"].input_tokens, used["search"].output_tokens) == (22, 14)
    assert used["search"].cost > 0


async def test_the_next_turn_remembers_the_last(served: Endpoint) -> None:
    session = started()
    await session.reply("milk")
    await session.reply("bread")
    told = [m["content"] for m in served.requests[-1].messages if m["role"] == "user"]
    assert [text for text in told if isinstance(text, str)] == ["milk", "bread"]
    assert session.state()["shown"] == ["p2"]


async def test_prompts_reach_the_model_and_the_teams_agents_stay(served: Endpoint) -> None:
    shops, prompts = adapter(), candidate(1)
    before = shops.prompts.fingerprint
    shops.require(prompts, "here")
    await started(prompts).reply("milk")
    agents = ["concierge", "search", "search"]
    for request, agent in zip(served.requests, agents, strict=True):
        assert request.system.startswith(f"{sent(prompts, agent)}\n\n")
    assert adapter().prompts.fingerprint == before
    import google_adk_shop  # pyright: ignore[reportMissingImports]

    assert google_adk_shop.search.parent_agent is google_adk_shop.root_agent


async def test_candidates_never_mix(served: Endpoint) -> None:
    assistant = adapter().connect(Means(Ledger()))

    async def talk(number: int) -> None:
        session = assistant.start(candidate(number % 20), {"store": "Bonn"}, number)
        await session.reply(f"{number % 20}: milk")

    await asyncio.gather(*(talk(number) for number in range(200)))
    assert len(served.requests) == 200 * 3
    for request in served.requests:
        number = int(said(request).partition(":")[0])
        agent = "search" if "find_products" in request.tools else "concierge"
        assert request.system.startswith(f"{sent(candidate(number), agent)}\n\n")


async def test_what_a_tool_refuses_is_a_defect(served: Endpoint) -> None:
    with pytest.raises(ValueError, match="the query is empty"):
        await started().reply("nothing")


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limit"), (500, "provider_error")])
async def test_an_outage_is_the_providers_fault(status: int, kind: str, served: Endpoint) -> None:
    served.respond = lambda request: fails(status)
    with pytest.raises(FaultError) as raised:
        await started().reply("milk")
    assert (raised.value.fault.origin, raised.value.fault.kind) == (FaultOrigin.PROVIDER, kind)


async def test_no_answer_is_the_assistants_fault(served: Endpoint) -> None:
    served.respond = lambda request: says("")
    with pytest.raises(FaultError, match="no agent answered") as raised:
        await started().reply("milk")
    assert raised.value.fault.origin is FaultOrigin.ASSISTANT


async def test_names_that_adk_could_not_fill_in_are_refused() -> None:
    prompts = PromptBundle.of(Prompt("concierge", "In {store}, say {{ name }}."))
    with pytest.raises(UsageError, match=r"nothing is known of '\{name\}'. It can name: store"):
        adapter().require(prompts, "here")
    with pytest.raises(FaultError) as raised:
        await started(prompts).reply("milk")
    assert raised.value.fault.origin is FaultOrigin.ASSISTANT


def test_prompts_of_unknown_agents_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"no agent 'baker'\. The application has: concierge, search"
    ):
        adapter().require(PromptBundle.of(Prompt("baker", "Bake.")), "here")


PIECES = st.sampled_from(
    ["{", "}", "{{", "$", "\\", "name", " ", "?", "user:", "artifact.", '"a": 1', "\n", "é", "0"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_text_without_names_passes_adks_templates_unchanged(text: str) -> None:
    session = SimpleNamespace(state={})
    context = SimpleNamespace(
        _invocation_context=SimpleNamespace(session=session, artifact_service=None),
        agent_name="agent",
    )
    filling = inject_session_state(text, context)  # pyright: ignore[reportArgumentType]
    if not state_names(text):
        assert asyncio.run(filling) == text
        return
    with suppress(KeyError, ValueError):  # what is taken for a name is filled in, or missed
        assert asyncio.run(filling) != text


def write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_other_code_is_another_assistant(tmp_path: Path) -> None:
    code = (EXAMPLES / "google_adk_shop.py").read_text(encoding="utf-8")
    write(tmp_path, "adk_identity", code)
    before = adapter("adk_identity:root_agent", tmp_path).identity()
    write(tmp_path, "adk_identity", f"{code}\nEXTRA = 1\n")
    assert adapter("adk_identity:root_agent", tmp_path).identity() != before


TOOL = """
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.tools.agent_tool import AgentTool
from google_adk_shop import MODEL, find_products

search = LlmAgent(name="search", model=MODEL, instruction="Find.", tools=[find_products])
greet = lambda context: "Greet."
concierge = LlmAgent(name="concierge", model=MODEL, instruction=greet, tools=[AgentTool(search)])
app = App(name="shop", root_agent=concierge)
"""


@pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")  # ADK's own use
async def test_an_agent_used_as_a_tool_has_its_prompt(tmp_path: Path, served: Endpoint) -> None:
    def respond(request: Request) -> Answer:
        if "search" in request.tools:
            return says("Here.") if request.results else calls("search", request="milk")
        return shop(request)

    served.respond = respond
    write(tmp_path, "adk_tool", TOOL)
    shops = adapter("adk_tool:app", tmp_path)
    assert list(shops.prompts) == ["search"]  # an instruction that is a function has no text
    ledger = Ledger()
    session = shops.connect(Means(ledger)).start(candidate(2).only("search"), {}, 0)
    reply = await session.reply("milk, please")
    tools = [(call.tool, call.agent) for call in reply.calls if isinstance(call, ToolCall)]
    assert tools == [("find_products", "search"), ("search", "concierge")]
    assert served.requests[0].system.startswith("Greet.")
    assert served.requests[1].system.startswith(candidate(2)["search"].text)
    assert ledger.totals[Role.TASK, "search"].calls == 2


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("adk_text", "root_agent = 'nobody'", "is str; it must be the root agent"),
        (
            "adk_twins",
            "twin = lambda: LlmAgent(name='a', instruction='x')\n"
            "root_agent = LlmAgent(name='r', sub_agents=[LlmAgent(name='b', sub_agents=[twin()]), "
            "twin()])",
            "two agents have the name 'a'",
        ),
    ],
)
def test_what_is_no_assistant_is_refused(tmp_path: Path, name: str, body: str, said: str) -> None:
    write(tmp_path, name, f"from google.adk.agents import LlmAgent\n{body}\n")
    with pytest.raises(UsageError, match=said):
        _ = adapter(f"{name}:root_agent", tmp_path).prompts
