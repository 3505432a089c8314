"""A shop: a concierge hears what is wanted, and `search` finds it with a tool.

`reply` is called once for each message, with the prompts of the candidate that is tried out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from openai import OpenAI

from cotune.agents.adapters.function import Conversation
from cotune.agents.recording import agent_call, tool_call

MODEL = os.environ.get("SHOP_MODEL", "gpt-4.1-mini")
PRICES = {
    "oat milk": 1.95, "rye bread": 3.4, "dark chocolate": 2.2, "green tea": 4.1,
    "olive oil": 7.9, "brown rice": 2.6, "apple juice": 1.8, "goat cheese": 3.9,
    "red lentils": 2.3, "peanut butter": 3.2, "sea salt": 1.1, "dried figs": 2.9,
}  # fmt: skip
TOOL = {
    "type": "function",
    "function": {
        "name": "find_products",
        "description": "Find products by name.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        },
    },
}


def find_products(query: str) -> list[dict[str, Any]]:
    """Find products by name."""
    return [
        {"id": name, "name": name, "price": price}
        for name, price in PRICES.items()
        if name in query.lower()
    ]


@cache
def client() -> OpenAI:
    """Return what asks the models at OPENAI_BASE_URL, with the key in OPENAI_API_KEY."""
    return OpenAI()


def ask(prompt: str, said: list[Any], **more: Any) -> Any:
    """Ask the model under a prompt."""
    messages = [{"role": "system", "content": prompt}, *said]
    answer = client().chat.completions.create(model=MODEL, messages=messages, **more)
    return answer.choices[0].message


def search(prompt: str, said: list[Any]) -> str:
    """Answer the customer; the model may look products up as often as it likes."""
    answer = ask(prompt, said, tools=[TOOL])
    while answer.tool_calls:
        said = [*said, answer.model_dump(exclude_none=True)]
        for call in answer.tool_calls:
            arguments = json.loads(call.function.arguments)
            found = find_products(**arguments)
            tool_call(call.function.name, arguments, found)  # what a check can look at
            said.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)})
        answer = ask(prompt, said, tools=[TOOL])
    return answer.content


def reply(message: str, prompts: Mapping[str, str], session: Conversation) -> str:
    """Answer one message; what is to be kept from turn to turn is kept in the session."""
    past = session.memory.setdefault("said", [])
    past.append({"role": "user", "content": message})
    with agent_call("concierge", message=message) as call:
        wish = ask(prompts["concierge"], past).content
        call.returned(wish=wish)
    with agent_call("search", message=message, wish=wish) as call:
        asked = {"role": "user", "content": f"{message}\n\nWanted: {wish}"}
        text = search(prompts["search"], [*past[:-1], asked])
        call.returned(text=text)
    past.append({"role": "assistant", "content": text})
    return text
