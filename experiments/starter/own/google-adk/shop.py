"""A shop: a concierge hands over to `search`, which finds products with a tool.

Models are at OPENAI_BASE_URL, with the key in OPENAI_API_KEY.
"""

from __future__ import annotations

import os
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm

MODEL = os.environ.get("SHOP_MODEL", "openai/gpt-4.1-mini")
PRICES = {
    "oat milk": 1.95, "rye bread": 3.4, "dark chocolate": 2.2, "green tea": 4.1,
    "olive oil": 7.9, "brown rice": 2.6, "apple juice": 1.8, "goat cheese": 3.9,
    "red lentils": 2.3, "peanut butter": 3.2, "sea salt": 1.1, "dried figs": 2.9,
}  # fmt: skip


def find_products(query: str) -> list[dict[str, Any]]:
    """Find products by name."""
    return [
        {"id": name, "name": name, "price": price}
        for name, price in PRICES.items()
        if name in query.lower()
    ]


search = LlmAgent(
    name="search",
    model=LiteLlm(MODEL),
    description="Finds products.",
    instruction="You are the sales assistant of a grocery shop. Answer the customer.",
    tools=[find_products],
)
root_agent = LlmAgent(
    name="concierge",
    model=LiteLlm(MODEL),
    instruction="You are the concierge of a grocery shop. Hand over to search for products.",
    sub_agents=[search],
)
