"""A shop as one function: a concierge hears what is wanted, `search` answers with what there is."""

from cotune.agents.recording import tool_call

PRICES = {"oat milk": 1.95, "rye bread": 3.4, "dark chocolate": 2.2}


def find_products(query):
    found = [{"name": name, "price": price} for name, price in PRICES.items() if name in query]
    tool_call("find_products", {"query": query}, found)
    return found


async def reply(message, prompts, session):
    wish = await session.ask("concierge", message)
    found = find_products(wish)
    session.state.setdefault("shown", []).extend(item["name"] for item in found)
    return await session.ask("search", f"{message} {found}")
