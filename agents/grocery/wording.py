"""How the shop's facts are put into words for its agents: short, one fact a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .catalog import Product

Facts = Mapping[str, Any]

REMEMBERED_TURNS = 3
_LONGEST = 300
_PURCHASES = 6


def history(exchanges: Sequence[tuple[str, str]]) -> str:
    """Render the last few (message, reply) pairs, long texts cut."""
    lines: list[str] = []
    for message, reply in exchanges[-REMEMBERED_TURNS:]:
        lines += [f"customer: {_short(message)}", f"assistant: {_short(reply)}"]
    return "\n".join(lines)


def profile(facts: Sequence[Facts], bought: Sequence[Product]) -> str:
    """Render what is known about a customer: standing facts, and what was bought lately.

    Args:
        facts: Standing facts, as the tools recall them.
        bought: Products of past orders, the latest first.
    """
    lines = [known(facts)] if facts else []
    if bought:
        names = dict.fromkeys(f"{product.product} by {product.brand}" for product in bought)
        lines.append(f"bought before: {', '.join(list(names)[:_PURCHASES])}")
    return "; ".join(lines) or "none"


def known(facts: Sequence[Facts]) -> str:
    """Render standing facts, such as `diet: vegan; household: 2 people`."""
    return "; ".join(f"{fact['kind']}: {_value(fact)}" for fact in facts) or "nothing"


def product(candidate: Facts) -> str:
    """Render a candidate with all that matters for a choice."""
    stock = f"at {candidate['store']}" if candidate["in_stock"] else "out of stock"
    return (
        f"{candidate['name']} by {candidate['brand']}, {candidate['size']}, "
        f"{candidate['price']:.2f} euros, {stock}"
    )


def as_read(candidates: Sequence[Facts]) -> list[dict[str, Any]]:
    """Return candidates as agents read them: without the noun, which their names say mostly."""
    return [
        {field: value for field, value in each.items() if field != "product"} for each in candidates
    ]


def screen(candidates: Sequence[Facts]) -> str:
    """Render what the customer sees, numbered."""
    shown = (f"{number}. {product(each)}" for number, each in enumerate(candidates, start=1))
    return f"On the screen: {'; '.join(shown)}."


def cart(view: Facts) -> str:
    """Render the cart."""
    if not view["lines"]:
        return "The cart is empty."
    lines = (f"{line['quantity']} x {line['name']}, {line['size']}" for line in view["lines"])
    return f"In the cart: {'; '.join(lines)}. Total: {view['total']:.2f} euros."


def needs_approval(candidate: Facts, differences: Sequence[str]) -> str:
    """Say why a product was not put into the cart."""
    return (
        f"Not put into the cart: {candidate['name']} by {candidate['brand']} is not just what was "
        f"asked for ({', '.join(differences)}). It needs the customer's approval first."
    )


def _value(fact: Facts) -> str:
    value = str(fact["value"])
    return f"{value} people" if fact["kind"] == "household" and value.isdigit() else value


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
