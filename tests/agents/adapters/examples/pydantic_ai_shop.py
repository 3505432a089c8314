"""A shop in Pydantic AI: a concierge whose tool asks a second agent."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic_ai import Agent, ModelRetry, RunContext

PRODUCTS = [
    {"id": "oat", "name": "Oat drink", "product": "milk", "price": 1.99},
    {"id": "soy", "name": "Soy drink", "product": "milk", "price": 1.49},
]


@dataclass
class Shop:
    """What a customer has in the cart and on the screen."""

    cart: list[dict] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


concierge = Agent(
    "openai-chat:gpt-4.1-mini",
    deps_type=Shop,
    instructions="You are a shop's concierge. Ask search for products.",
    defer_model_check=True,
)

search = Agent(
    "openai-chat:gpt-4.1-mini",
    deps_type=Shop,
    system_prompt="You find products. Show what you found.",
    defer_model_check=True,
)


@concierge.instructions
def cart_lines(context: RunContext[Shop]) -> str:
    """Tell how full the cart is."""
    return f"Lines in the cart: {len(context.deps.cart)}"


@concierge.tool
async def ask_search(context: RunContext[Shop], wish: str) -> str:
    """Have products searched for."""
    try:
        return (await search.run(wish, deps=context.deps, usage=context.usage)).output
    except Exception:
        return "Search is not available."


@concierge.tool
def add_to_cart(context: RunContext[Shop], product_id: str) -> str:
    """Put a product into the cart."""
    product = next(product for product in PRODUCTS if product["id"] == product_id)
    context.deps.cart.append({**product, "quantity": 1})
    return "done"


@search.tool
def find_products(context: RunContext[Shop], query: str) -> list[dict]:
    """Find products by what they are."""
    found = [product for product in PRODUCTS if product["product"] in query]
    if not found:
        raise ModelRetry(f"nothing is called {query}")
    context.deps.shown = [product["id"] for product in found]
    return found


async def reply(message: str, session) -> str:
    """Answer one message, with the messages so far kept in the session."""
    shop = Shop(**session.state)
    history = session.memory.get("messages", [])
    result = await concierge.run(message, message_history=history, deps=shop)
    session.memory["messages"] = result.all_messages()
    session.state = {"cart": shop.cart, "shown": shop.shown}
    return result.output
