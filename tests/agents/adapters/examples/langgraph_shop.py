"""A shop in LangGraph: a concierge that hands over to an agent that searches the shelves.

Its nodes read their prompts from the run's configuration. `build` is the same shop for a team that
builds its graph of the prompts, `Shop` one that declares what a run is given.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command

PROMPTS = {
    "concierge": "You greet customers. Products are for the agent 'search'.",
    "search": "You find products. Use the tool, and answer with what it found.",
}
SHELF = ({"id": "p1", "name": "Oat milk", "price": 2.5}, {"id": "p2", "name": "Rye bread"})


def _seen(before: list[str], new: list[str]) -> list[str]:
    return before + new


class ShopState(MessagesState):
    """What the shop remembers of a conversation."""

    store: str
    shown: Annotated[list[str], _seen]


@tool
def find_products(query: str) -> list[dict[str, Any]]:
    """Find products by a word of their name."""
    if not query:
        raise ValueError("the query is empty")
    return [product for product in SHELF if query in str(product["name"]).lower()]


@tool
def transfer_to_search() -> str:
    """Hand the customer over to the agent that finds products."""
    return "handed over"


def model() -> ChatOpenAI:
    """Return the model that OPENAI_BASE_URL and OPENAI_API_KEY lead to."""
    return ChatOpenAI(model="gpt-4.1-mini", base_url=os.environ["OPENAI_BASE_URL"])


async def ask(prompt: str, messages: Sequence[BaseMessage], *tools: Any) -> AIMessage:
    """Ask the model under a prompt."""
    return await model().bind_tools(tools).ainvoke([SystemMessage(prompt), *messages])


def prompts_of(config: RunnableConfig) -> Mapping[str, str]:
    """Return the prompts of this run."""
    return config.get("configurable", {})["prompts"]


async def greet(prompt: str, state: ShopState) -> Command[str]:
    """Answer as the concierge, or hand over."""
    said = await ask(prompt, state["messages"], transfer_to_search)
    if said.tool_calls:
        return Command(goto="search")
    return Command(goto=END, update={"messages": [said]})


async def find(prompt: str, state: ShopState) -> dict[str, Any]:
    """Answer as the agent that searches."""
    said = await ask(prompt, state["messages"], find_products)
    return {"messages": [said], "shown": [call["args"]["query"] for call in said.tool_calls]}


def wired(concierge: Any, search: Any, context: type | None = None) -> StateGraph[Any, Any]:
    """Return the graph of these two nodes and their tools."""
    graph = StateGraph(ShopState, context_schema=context)
    graph.add_node("concierge", concierge, destinations=("search", END))
    graph.add_node("search", search)
    graph.add_node("tools", ToolNode([find_products], handle_tool_errors=True))
    graph.add_edge(START, "concierge")
    graph.add_conditional_edges(
        "search", lambda state: "tools" if state["messages"][-1].tool_calls else END
    )
    graph.add_edge("tools", "search")
    return graph


async def concierge(state: ShopState, config: RunnableConfig) -> Command[str]:
    """Answer, or hand over, under the prompt of this run."""
    return await greet(prompts_of(config)["concierge"], state)


async def search(state: ShopState, config: RunnableConfig) -> dict[str, Any]:
    """Find what the customer asks for, under the prompt of this run."""
    return await find(prompts_of(config)["search"], state)


graph = wired(concierge, search).compile()


class Shop(TypedDict):
    """What a run is given."""

    prompts: Mapping[str, str]


async def concierge_here(state: ShopState, runtime: Runtime[Shop]) -> Command[str]:
    """Answer, or hand over, under the prompt of this run."""
    return await greet(runtime.context["prompts"]["concierge"], state)


async def search_here(state: ShopState, runtime: Runtime[Shop]) -> dict[str, Any]:
    """Find what the customer asks for, under the prompt of this run."""
    return await find(runtime.context["prompts"]["search"], state)


graph_with_context = wired(concierge_here, search_here, Shop)


def build(prompts: Mapping[str, str]) -> Any:
    """Return the shop under these prompts."""

    async def concierge(state: ShopState) -> Command[str]:
        return await greet(prompts["concierge"], state)

    async def search(state: ShopState) -> dict[str, Any]:
        return await find(prompts["search"], state)

    return wired(concierge, search).compile()
