"""A shop: `concierge` says what is wanted, and `search` finds it with a tool.

Models are at OPENAI_BASE_URL, with the key in OPENAI_API_KEY; with `models.task` in cotune.yaml
the program runs on that one.
"""

from __future__ import annotations

import os
from typing import Any

import dspy

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


class Wish(dspy.Signature):
    """Say in a few words which product the customer of a grocery shop wants."""

    message: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    wish: str = dspy.OutputField()


class Offer(dspy.Signature):
    """You are the sales assistant of a grocery shop. Answer the customer."""

    message: str = dspy.InputField()
    wish: str = dspy.InputField()
    answer: str = dspy.OutputField()


class Shop(dspy.Module):
    """Two agents."""

    def __init__(self) -> None:
        super().__init__()
        self.concierge = dspy.Predict(Wish)
        self.search = dspy.ReAct(Offer, tools=[find_products], max_iters=3)
        self.set_lm(dspy.LM(MODEL, cache=False))

    async def aforward(self, message: str, history: dspy.History) -> dspy.Prediction:
        """Answer one message."""
        wanted = await self.concierge.acall(message=message, history=history)
        return await self.search.acall(message=message, wish=wanted.wish)


shop = Shop()
