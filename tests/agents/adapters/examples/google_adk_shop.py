"""A shop in Google ADK: a concierge that hands over to an agent that searches the shelves.

The model is found by OPENAI_BASE_URL and OPENAI_API_KEY, which LiteLLM reads at each call.
"""

from __future__ import annotations

from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.tools import ToolContext

SHELF = ({"id": "p1", "name": "Oat milk", "price": 2.5}, {"id": "p2", "name": "Rye bread"})


def find_products(query: str, tool_context: ToolContext) -> list[dict[str, Any]]:
    """Find products by a word of their name."""
    if not query:
        raise ValueError("the query is empty")
    found = [product for product in SHELF if query in str(product["name"]).lower()]
    tool_context.state["shown"] = [product["id"] for product in found]
    return found


MODEL = LiteLlm(model="openai/gpt-4.1-mini", num_retries=0)

search = LlmAgent(
    name="search",
    model=MODEL,
    description="Finds products in the shop.",
    instruction="You find products. Use the tool, and answer with what it found.",
    tools=[find_products],
)
root_agent = LlmAgent(
    name="concierge",
    model=MODEL,
    description="Greets customers.",
    instruction="You greet customers of the shop in {store}. Products are for 'search'.",
    sub_agents=[search],
)
