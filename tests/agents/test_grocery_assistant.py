"""The reference assistant: who is asked, what they are told, and what becomes of the cart."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import pytest
from dspy.lm15 import Message, Request, Response, Usage

from cotune.agents.assistant import AgentCall, Assistant, Reply, ToolCall
from cotune.agents.errors import FaultOrigin, UsageError
from cotune.agents.grocery.assistant import GroceryAssistant
from cotune.agents.grocery.signatures import AGENTS
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import PromptBundle
from cotune.simulation.conversation import converse
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory
from cotune.simulation.users.fixed import FixedUsers

POLICY = {
    "router": """Choose the agent.

## Rules
- search: wishing for or ordering a product that is not yet on the screen or in the cart.
- selector: choosing among or comparing products already shown.
- cart: changing what is already in the cart: amount, remove, empty, total, check out.
- preferences: a standing fact to remember: diet, allergy, favourite brand.
- responder: greeting, thanks, small talk, how the service works.
""",
    "search": "Fill in the search form: product, quantity, size, brand and diet.",
    "cart": "Update the cart as the customer asks and keep the quantity.",
}
BUTTER = "p-019"
ORGANIC_BUTTER = "p-020"


def scripted(setting: str = "", attempts: int = 1) -> GroceryAssistant:
    settings = ModelSettings(model=f"scripted:grocery{setting}", attempts=attempts)
    return GroceryAssistant(LanguageModel(settings, Role.TASK, Ledger()))


def scenario(**state: Any) -> Scenario:
    return Scenario(id="s1", family="f", goal="breakfast", initial_state=state)


class Planned(dspy.BaseLM):
    """A model that answers what was planned for each agent, and keeps what it was sent."""

    def __init__(self, **answers: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        super().__init__("planned")
        self.answers = {
            name: [a] if isinstance(a, Mapping) else [*a] for name, a in answers.items()
        }
        self.sent: dict[str, list[Request]] = defaultdict(list)

    async def acall(self, prompt: Any = None, **_: Any) -> Response:
        name = str(prompt.config.response_format["name"])
        number = len(self.sent[name])
        self.sent[name].append(prompt)
        answer = self.answers[name][min(number, len(self.answers[name]) - 1)]
        message = Message.assistant(json.dumps(answer))
        return Response(
            id=None, model="planned", message=message, finish_reason="stop", usage=Usage()
        )

    def read_by(self, name: str) -> list[str]:
        return [request.messages[-1].text or "" for request in self.sent[name]]


def query(product: str, **wishes: Any) -> dict[str, Any]:
    nothing = {"quantity": 1, "size": "", "brand": "", "diet": [], "max_price": None}
    return {"product": product, **nothing, "exclude": [], "store": "", **wishes}


def operation(action: str, product: str = "", quantity: int = 1) -> dict[str, Any]:
    return {"operations": [{"action": action, "product": product, "quantity": quantity}]}


def planned(agent: str, **answers: Any) -> Planned:
    usual: dict[str, Any] = {
        "Route": {"agent": agent},
        "Brief": {"brief": ""},
        "Select": {"choice": BUTTER, "quantity": 1},
        "ChangeCart": operation("add", BUTTER),
        "Respond": {"reply": "Done."},
    }
    return Planned(**{**usual, **answers})


async def one_turn(lm: Planned, message: str, **state: Any) -> tuple[Reply, Mapping[str, Any]]:
    assistant = GroceryAssistant(lm)
    session = assistant.start(assistant.prompts, state)
    return await session.reply(message), session.state()


def cart(state: Mapping[str, Any]) -> dict[str, int]:
    return {line["product_id"]: line["quantity"] for line in state["cart"]}


def agents(reply: Reply) -> list[str]:
    return [call.agent for call in reply.calls if isinstance(call, AgentCall)]


def tools(reply: Reply) -> list[str]:
    return [call.tool for call in reply.calls if isinstance(call, ToolCall)]


def events(reply: Reply) -> str:
    last = reply.calls[-1]
    assert isinstance(last, AgentCall)
    assert last.agent == "responder"
    return "\n".join(last.inputs["events"])


# With the simulated model


async def test_three_turns_fill_the_cart() -> None:
    assistant: Assistant = scripted()
    prompts = assistant.prompts.with_texts(POLICY)
    messages = ["Add two packs of butter", "Make it 3 butter instead in the cart", "check out"]
    trajectory = await converse(
        assistant, prompts, scenario(store="s-market"), FixedUsers(messages)
    )
    assert trajectory.stop is StopReason.SCRIPT_ENDED
    assert [list(cart(turn.state).values()) for turn in trajectory.turns] == [[2], [3], [3]]
    assert trajectory.final_state["cart"][0]["product"] == "butter"
    assert trajectory.final_state["checked_out"] is True
    first = trajectory.turns[0].reply
    assert agents(first) == ["router", "briefer", "search", "selector", "cart", "responder"]
    assert tools(first)[-4:] == ["find_products", "show", "choose", "add_to_cart"]


async def test_equal_conversations_are_equal_and_the_seed_prompts_do_worse() -> None:
    assistant = scripted()
    good = assistant.prompts.with_texts(POLICY)
    message = ["Add two packs of butter"]
    runs = [await converse(assistant, good, scenario(), FixedUsers(message)) for _ in range(2)]
    assert runs[0] == runs[1]
    seed = await converse(assistant, assistant.prompts, scenario(), FixedUsers(message))
    assert cart(seed.final_state) == {}, "the bare router takes an order for a change of the cart"


async def test_sessions_side_by_side_never_mix() -> None:
    assistant = scripted("?latency_ms=1")
    changed = assistant.prompts.with_texts(POLICY)

    async def shop(prompts: PromptBundle, product: str) -> Trajectory:
        return await converse(
            assistant, prompts, scenario(), FixedUsers([f"Add {product}", "Thanks"])
        )

    products = ["butter", "rice", "honey", "salt"]
    pairs = [(prompts, product) for product in products for prompts in (changed, assistant.prompts)]
    together = await asyncio.gather(*(shop(*pair) for pair in pairs))
    alone = [await shop(*pair) for pair in pairs]
    assert list(together) == alone
    found = [[line["product"] for line in each.final_state["cart"]] for each in together]
    assert found == [wanted for product in products for wanted in ([product], [])]


@pytest.mark.parametrize(
    ("setting", "origin"),
    [("?server_error=1", FaultOrigin.PROVIDER), ("?invalid_json=1", FaultOrigin.ASSISTANT)],
)
async def test_a_failing_model_gives_a_fault_and_no_score(
    setting: str, origin: FaultOrigin
) -> None:
    assistant = scripted(setting)
    trajectory = await converse(assistant, assistant.prompts, scenario(), FixedUsers(["Hello"]))
    assert trajectory.stop is StopReason.FAULT
    assert trajectory.fault is not None
    assert trajectory.fault.origin is origin
    assert trajectory.turns == ()


# What each agent is told


def test_every_agent_has_a_seed_prompt_that_says_what_it_is_for() -> None:
    prompts = scripted().prompts
    assert set(prompts) == set(AGENTS)
    assert prompts["router"].text == "Choose the agent."
    for prompt in prompts.values():
        assert prompt.description
        assert len(prompt.text) < 100, "a seed prompt is plain"


@pytest.mark.parametrize(
    ("agent", "reader"), [("search", "Search"), ("selector", "Select"), ("cart", "ChangeCart")]
)
async def test_preferences_reach_an_agent_only_through_the_brief(agent: str, reader: str) -> None:
    for brief in ("They avoid palm oil.", "They want butter."):
        lm = planned(agent, Brief={"brief": brief}, Search=query("butter"))
        await one_turn(lm, "butter please", customer="c-01", shown=[BUTTER])
        assert "no palm oil" in lm.read_by("Brief")[0]
        assert brief in lm.read_by(reader)[0]
        others = [text for name in lm.sent if name != "Brief" for text in lm.read_by(name)]
        assert any("palm oil" in text for text in others) == ("palm oil" in brief)


async def test_search_gets_its_previous_query_and_the_history_is_short() -> None:
    lm = planned("search", Search=query("butter", size="250 g"), Respond={"reply": "x" * 1000})
    session = GroceryAssistant(lm).start(scripted().prompts, {})
    for number in range(5):
        await session.reply(f"butter {number}")
    first, second, *_ = lm.read_by("Search")
    assert "previous: null" in first
    assert '"size": "250 g"' in second
    assert "butter 1" in lm.read_by("Brief")[4]
    assert "butter 0" not in lm.read_by("Brief")[4]
    assert max(map(len, lm.read_by("Brief"))) < 1500


async def test_seeds_follow_from_session_turn_and_agent() -> None:
    async def seeds(seed: int) -> list[int | None]:
        lm = planned("responder")
        session = GroceryAssistant(lm).start(scripted().prompts, {}, seed)
        await session.reply("Hello")
        await session.reply("Hello")
        return [request.config.seed for name in ("Route", "Respond") for request in lm.sent[name]]

    first = await seeds(1)
    assert first == await seeds(1)
    assert len({*first, *await seeds(2)}) == 8


def test_a_missing_prompt_and_a_strange_state_are_refused() -> None:
    assistant = scripted()
    with pytest.raises(UsageError, match="'briefer'"):
        assistant.start(assistant.prompts.only("router", "search"), {})
    with pytest.raises(UsageError, match="basket"):
        assistant.start(assistant.prompts, {"basket": []})


# What goes into the cart


async def test_what_was_found_and_fits_goes_into_the_cart() -> None:
    lm = planned("search", Search=query("butter"))
    reply, state = await one_turn(lm, "add butter", store="s-market")
    assert cart(state) == {BUTTER: 1}
    assert "In the cart: 1 x Sweet cream butter" in events(reply)


@pytest.mark.parametrize(
    ("wishes", "difference"),
    [
        ({"brand": "Kerrygold"}, "another brand"),
        ({"size": "500 g"}, "another size"),
        ({"diet": ["vegan"]}, "diet"),
        ({"max_price": 1.0}, "price limit"),
        ({"exclude": ["milk"]}, "exclusions"),
    ],
)
async def test_what_differs_needs_the_customers_approval(
    wishes: dict[str, Any], difference: str
) -> None:
    lm = planned("search", Search=query("butter", **wishes))
    reply, state = await one_turn(lm, "add butter", store="s-market")
    assert cart(state) == {}
    assert BUTTER in state["shown"]
    assert difference in events(reply)
    assert "approval" in events(reply)


async def test_a_remembered_brand_is_a_wish_but_not_an_order() -> None:
    lm = planned("search", Search=query("butter", brand="Haferlust"))
    _, state = await one_turn(lm, "add butter", customer="c-01", store="s-market")
    assert cart(state) == {BUTTER: 1}
    _, state = await one_turn(lm, "add Haferlust butter", customer="c-01", store="s-market")
    assert cart(state) == {}


async def test_a_substitute_is_marked_once_the_customer_has_approved_it() -> None:
    lm = planned(
        "search",
        Route=[{"agent": "search"}, {"agent": "cart"}],
        Search=query("butter", brand="Alpenbach"),
        Select={"choice": ORGANIC_BUTTER, "quantity": 1},
        ChangeCart=operation("add", ORGANIC_BUTTER, 2),
    )
    start = {"store": "s-market", "out_of_stock": [BUTTER]}
    session = GroceryAssistant(lm).start(scripted().prompts, start)
    reply = await session.reply("add Alpenbach butter")
    assert "substitutes" in tools(reply)
    assert "out of stock" in events(reply)
    assert cart(session.state()) == {}
    await session.reply("yes, two of the other one then")
    line = session.state()["cart"][0]
    assert (line["product_id"], line["quantity"]) == (ORGANIC_BUTTER, 2)
    assert line["approved_substitute_for"] == BUTTER


async def test_a_product_that_was_never_shown_is_not_added() -> None:
    lm = planned("cart", ChangeCart=operation("add", "p-001"))
    reply, state = await one_turn(lm, "more milk", cart=[{"product_id": BUTTER}])
    assert cart(state) == {BUTTER: 1}
    assert "has not been shown" in events(reply)


async def test_what_a_tool_refuses_is_recorded_and_told_and_never_raised() -> None:
    lm = planned("cart", ChangeCart=operation("remove", "p-999"))
    reply, state = await one_turn(lm, "take it out", cart=[{"product_id": BUTTER}])
    refused = [call for call in reply.calls if isinstance(call, ToolCall) and call.error]
    assert [(call.tool, call.agent, call.result) for call in refused] == [
        ("remove_from_cart", "cart", None)
    ]
    assert refused[0].arguments == {"product_id": "p-999"}
    assert refused[0].error in events(reply)
    assert cart(state) == {BUTTER: 1}


async def test_a_choice_that_is_not_on_the_screen_adds_nothing() -> None:
    lm = planned("selector", Select={"choice": "p-001", "quantity": 1})
    reply, state = await one_turn(lm, "the first", shown=[BUTTER])
    assert cart(state) == {}
    assert "not on the screen" in events(reply)
    assert agents(reply) == ["router", "briefer", "selector", "responder"]


# Stores and memory


async def test_the_order_moves_to_the_store_asked_for_unless_that_lacks_part_of_the_cart() -> None:
    lm = planned(
        "search",
        Search=query("bread roll", store="bakery"),
        Select={"choice": "none", "quantity": 1},
    )
    _, state = await one_turn(lm, "rolls from the bakery", store="s-market")
    assert state["store_type"] == "bakery"
    start = {"store": "s-market", "cart": [{"product_id": "p-188"}]}
    reply, state = await one_turn(lm, "rolls from the bakery", **start)
    assert state["store"] == "s-market"
    assert "The order stays" in events(reply)


async def test_a_store_there_is_not_is_told_and_the_search_goes_on_without_it() -> None:
    lm = planned("search", Search=query("butter", store="Harrods"))
    reply, state = await one_turn(lm, "butter from Harrods")
    assert "'Harrods' is no store of ours" in events(reply)
    assert BUTTER in state["shown"]


async def test_facts_are_remembered_and_forgotten() -> None:
    changes = [
        {"action": "remember", "kind": "diet", "value": "gluten free"},
        {"action": "forget", "kind": "diet", "value": "vegan"},
        {"action": "recall", "kind": "other", "value": ""},
    ]
    lm = planned("preferences", Prefer={"changes": changes})
    reply, state = await one_turn(lm, "no gluten, and I'm no longer vegan", customer="c-01")
    facts = [(fact["kind"], fact["value"]) for fact in state["preferences"]]
    assert ("diet", "gluten_free") in facts
    assert ("diet", "vegan") not in facts
    assert "gluten_free" in events(reply)
    assert agents(reply) == ["router", "preferences", "responder"]
