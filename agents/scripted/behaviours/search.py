"""The simulated search agent: extracts what its prompt tells it to look for.

A bare prompt gets the product and nothing else. Every further skill is switched on by words of
the prompt that speak of it; worked examples switch on the skills they demonstrate.
"""

from __future__ import annotations

import re
from typing import Any

from .. import wishes
from ..call import Call

# What in a prompt switches a skill on: beginnings of words.
SKILLS: dict[str, tuple[str, ...]] = {
    "quantity": ("quantit", "how many", "number of units"),
    "size": ("size", "weight", "volume"),
    "brand": ("brand",),
    "diet": ("diet", "vegan"),
    "implied diet": ("impl", "allerg", "intoleran"),
    "max_price": ("budget", "price", "max_price", "limit in money"),
    "exclude": ("exclu", "without", "unwanted", "not wanted"),
    "store": ("store", "shop to buy", "where the customer wants"),
    "previous": ("previous", "revision", "revis"),
    "spelling": ("misspel", "typo", "spelling"),
}
_NOTHING: dict[str, Any] = {
    "product": "", "quantity": 1.0, "size": "", "brand": "", "diet": [], "max_price": None,
    "exclude": [], "store": "",
}  # fmt: skip


def skills(call: Call) -> frozenset[str]:
    """Return what the prompt tells to look for, by a statement or by a worked example."""
    told = {skill for skill, stems in SKILLS.items() if call.instructions.mention(*stems)}
    for example in call.instructions.examples:
        told |= {
            name
            for name, value in example.answer().items()
            if name in SKILLS and value != _NOTHING[name]
        }
    return frozenset(told)


def search(call: Call) -> dict[str, Any]:
    """Return the catalogue query."""
    told = skills(call)
    message = call.string("message")
    found = _said(message, told)
    previous = call.inputs.get("previous")
    if isinstance(previous, dict) and "previous" in told and not _is_fresh(message, found):
        return _revised({**_NOTHING, **previous}, found, message)
    return {**_NOTHING, **found}


def _said(message: str, told: frozenset[str]) -> dict[str, Any]:
    """Return the fields that the message fills and the prompt asks for."""
    found: dict[str, Any] = {
        "product": wishes.product(message, spelling="spelling" in told),
        "quantity": wishes.quantity(message),
        "size": wishes.size(message),
        "brand": wishes.brand(message),
        "diet": wishes.diets(message, implied="implied diet" in told),
        "max_price": wishes.budget(message),
        "exclude": wishes.excluded(message),
        "store": wishes.store(message),
    }
    return {
        name: value
        for name, value in found.items()
        if value and (name == "product" or name in told)
    }


def _is_fresh(message: str, found: dict[str, Any]) -> bool:
    """Whether a further product is asked for, rather than the previous wish changed."""
    return "product" in found and bool(re.search(r"\b(?:too|also|now|and then)\b", message.lower()))


def _revised(previous: dict[str, Any], found: dict[str, Any], message: str) -> dict[str, Any]:
    lower = message.lower()
    changes = {name: value for name, value in found.items() if name not in ("product", "quantity")}
    for name in ("diet", "exclude"):
        if name in changes:
            changes[name] = list(dict.fromkeys([*previous[name], *changes[name]]))
    if "product" in found and re.search(r"\binstead\b|in place of|\brather\b", lower):
        changes["product"] = found["product"]
    if re.search(r"\b(?:one|another) more\b|\banother one\b", lower):
        changes["quantity"] = previous["quantity"] + 1
    elif re.search(r"\b(?:double|twice)\b", lower):
        changes["quantity"] = previous["quantity"] * 2
    elif "quantity" in found:
        changes["quantity"] = found["quantity"]
    for name in ("brand", "store"):
        if re.search(rf"\b{name} (?:no longer|doesn't)|\bany (?:{name}|shop)\b", lower):
            changes[name] = ""
    if previous["brand"] in changes.get("exclude", ()):
        changes["brand"] = ""
    return {**previous, **changes}
