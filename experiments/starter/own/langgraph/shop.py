"""A shop: the node `concierge` hands over to `search`, which finds products with a tool.

Models are at OPENAI_BASE_URL, with the key in OPENAI_API_KEY.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypedDict

from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command

MODEL = os.environ.get("SHOP_MODEL", "gpt-4.1-mini")
PROMPTS = {
    "concierge": "You are the concierge of a grocery shop. Hand over to search for products.",
    "search": "You are the sales assistant of a grocery shop. Answer the customer.",
}
PRICES = {
    "oat milk": 1.95, "rye bread": 3.4, "dark chocolate": 2.2, "green tea": 4.1,
    "olive oil": 7.9, "brown rice": 2.6, "apple juice": 1.8, "goat cheese": 3.9,
    "red lentils": 2.3, "peanut butter": 3.2, "sea salt": 1.1, "dried figs": 2.9,
}  # fmt: skip


class Shop(TypedDict):
    """What a run is given; in production `context={"prompts": PROMPTS}`."""

    prompts: Mapping[str, str]


@tool
def find_products(query: str) -> list[dict[str, Any]]:
    """Find products by name."""
    return [
        {"id": name, "name": name, "price": price}
        for name, price in PRICES.items()
        if name in query.lower()
    ]


@tool
def transfer_to_search() -> str:
    """Hand the customer over to the agent that finds products."""
    return "handed over"


async def ask(node: str, state: MessagesState, runtime: Runtime[Shop], *tools: Any) -> BaseMessage:
    """Ask the model under the prompt of a node."""
    prompt = SystemMessage(runtime.context["prompts"][node])
    return await ChatOpenAI(model=MODEL).bind_tools(tools).ainvoke([prompt, *state["messages"]])


async def concierge(state: MessagesState, runtime: Runtime[Shop]) -> Command[str]:
    """Answer, or hand over."""
    said = await ask("concierge", state, runtime, transfer_to_search)
    if said.tool_calls:  # pyright: ignore[reportAttributeAccessIssue]
        return Command(goto="search")
    return Command(goto=END, update={"messages": [said]})


async def search(state: MessagesState, runtime: Runtime[Shop]) -> dict[str, Any]:
    """Answer with what the tool finds."""
    return {"messages": [await ask("search", state, runtime, find_products)]}


def after_search(state: MessagesState) -> str:
    """Go on to the tools where the model called one."""
    last = state["messages"][-1]
    return "tools" if last.tool_calls else END  # pyright: ignore[reportAttributeAccessIssue]


builder = StateGraph(MessagesState, context_schema=Shop)
builder.add_node("concierge", concierge, destinations=("search", END))
builder.add_node("search", search)
builder.add_node("tools", ToolNode([find_products]))
builder.add_edge(START, "concierge")
builder.add_conditional_edges("search", after_search, ["tools", END])
builder.add_edge("tools", "search")
graph = builder.compile()
