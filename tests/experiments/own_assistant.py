"""A team's folder: an assistant of its own, scenarios, a rubric with a check, a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

_SHOP = """
from cotune.agents.recording import agent_call, tool_call

PRICES = {"oat milk": 1.95, "rye bread": 3.4, "dark chocolate": 2.2}


async def reply(message, prompts, session):
    product = await session.ask("concierge", message)
    with agent_call("search", product=product) as call:
        found = {"name": product, "price": PRICES.get(product)}
        tool_call("find_products", {"query": product}, found)
        call.returned(found=found)
    return await session.ask("search", f"{message} We have {found}")
"""
_CHECK = """
from cotune.rubrics.verdict import Finding


def names_the_price(trajectory, scenario):
    said = any("euros" in turn.reply.text for turn in trajectory.turns)
    return Finding.scored(said, "The price is named." if said else "No price is named.")
"""
_RUBRIC: dict[str, Any] = {
    "id": "service",
    "name": "Service",
    "description": "What our customers need to hear.",
    "subject": "trajectory",
    "domains": [{"id": "help", "name": "Help", "weight": 100}],
    "criteria": [
        {
            "id": "price",
            "name": "Price",
            "domain": "help",
            "points": 1,
            "passes": "The price is named.",
            "fails": "It is not.",
            "agents": ["search"],
            "feedback": "Name the price.",
            "rules": {"search": ["Always name the price in euros."]},
            "check": {"name": "our_checks:names_the_price"},
        }
    ],
}
_PRODUCTS = ("oat milk", "rye bread", "dark chocolate")


def write_project(folder: Path, assistant: Mapping[str, Any], **changes: Any) -> Path:
    """Write everything; returns the configuration.

    Args:
        folder: Where.
        assistant: What the configuration says of it.
        **changes: Whole values of the configuration, at the top level.
    """
    (folder / "my_shop.py").write_text(_SHOP, encoding="utf-8")
    (folder / "our_checks.py").write_text(_CHECK, encoding="utf-8")
    (folder / "prompts").mkdir()
    for agent, text in (("concierge", "Name the product."), ("search", "Answer the customer.")):
        (folder / "prompts" / f"{agent}.md").write_text(text, encoding="utf-8")
    _dump(folder / "rubric.yaml", _RUBRIC)
    _dump(folder / "scenarios.yaml", _scenarios())
    config = {
        "assistant": dict(assistant),
        "prompts": "prompts",
        "out": "cotune-runs",
        "simulation": {"scenarios": "scenarios.yaml", "conversation": {"turns": 3}},
        "system": {
            "rubric": "rubric.yaml",
            "split": {"shares": {"train": 0.4, "val": 0.3, "test": 0.3}},
        },
        "limits": {"rollouts": 120},
        "seed": 2,
        "search": {"minibatch": 4, "patience": 2},
        "selection": {"finalists": 1},
        **changes,
    }
    return _dump(folder / "cotune.yaml", config)


def _scenarios() -> list[dict[str, Any]]:
    return [
        {
            "id": f"price-{number}",
            "family": f"family-{number}",
            "goal": f"Find out what {product} costs.",
            "opening": f"Hello, what does {product} cost? ({number})",
            "errands": [
                {"kind": "question", "id": "price", "say": f"What does {product} cost?"},
            ],
        }
        for number, product in enumerate(_PRODUCTS * 8)
    ]


def _dump(path: Path, content: Any) -> Path:
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path
