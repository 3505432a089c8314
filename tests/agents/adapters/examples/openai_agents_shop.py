"""A shop in the OpenAI Agents SDK: agents that hand over to each other, and one used as a tool."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents import Agent, RunContextWrapper, function_tool, set_default_openai_api

MODEL = "gpt-4.1-mini"
set_default_openai_api("chat_completions")

PRODUCTS = [
    {"id": "oat", "name": "Oat drink", "product": "milk", "price": 1.99, "allergens": ["gluten"]},
    {"id": "soy", "name": "Soy drink", "product": "milk", "price": 1.49, "allergens": ["soy"]},
]


@dataclass
class Shop:
    """What a customer has in the cart and on the screen."""

    cart: list[dict] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


@function_tool
def find_products(context: RunContextWrapper[Shop], query: str) -> list[dict]:
    """Find products by what they are."""
    found = [product for product in PRODUCTS if product["product"] in query]
    if not found:
        raise ValueError(f"nothing is called {query}")
    context.context.shown = [product["id"] for product in found]
    return found


@function_tool
def add_to_cart(context: RunContextWrapper[Shop], product_id: str) -> str:
    """Put a product into the cart."""
    product = next(product for product in PRODUCTS if product["id"] == product_id)
    context.context.cart.append({**product, "quantity": 1})
    return "done"


@function_tool
def list_allergens(product_id: str) -> list[str]:
    """Return what a product contains."""
    return next(p["allergens"] for p in PRODUCTS if p["id"] == product_id)


allergist = Agent[Shop](
    name="allergist",
    instructions="You know what is in our products.",
    model=MODEL,
    tools=[list_allergens],
)

search = Agent[Shop](
    name="search",
    handoff_description="Finds products.",
    instructions="You find products. Show what you found.",
    model=MODEL,
    tools=[find_products],
)


def greeting(context: RunContextWrapper[Shop], agent: Agent[Shop]) -> str:
    """Return what the greeter is told, which depends on the cart."""
    return f"{GREETING}\n\nLines in the cart: {len(context.context.cart)}"


GREETING = "You say hello."

greeter = Agent[Shop](name="Friendly greeter", instructions=greeting, model=MODEL)

concierge = Agent[Shop](
    name="concierge",
    instructions="You are a shop's concierge. Hand over to search for products.",
    model=MODEL,
    handoffs=[search, greeter],
    tools=[add_to_cart, allergist.as_tool("ask_allergist", "Ask what a product contains.")],
)

search.handoffs.append(concierge)
