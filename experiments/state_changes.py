"""What one turn changed in the world's state, in short lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .brief import brief

_CART = "cart"


def state_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each field that differs and what became of it; the cart, line by line, comes first."""
    if before.get(_CART) != after.get(_CART):
        for change in _cart_changes(_lines(before), _lines(after)):
            yield _CART, change
    for name in sorted({*before, *after} - {_CART}):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield (
                name,
                brief(new) if isinstance(old, (list, dict)) else f"{brief(old)} → {brief(new)}",
            )


def _cart_changes(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    for key, line in after.items():
        old = before.get(key)
        if old is None:
            yield f"+ {_line(line)}"
        elif old.get("quantity") != line.get("quantity"):
            yield f"{brief(old.get('quantity'))} → {_line(line)}"
        elif old != line:
            yield f"~ {_line(line)}"
    for key, line in before.items():
        if key not in after:
            yield f"- {_line(line)}"


def _lines(state: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the cart's lines by what they are lines of."""
    cart = state.get(_CART)
    lines: Sequence[Any] = cart if isinstance(cart, (list, tuple)) else ()
    return {
        str(line.get("product_id") or line.get("id") or line.get("name")): line
        for line in lines
        if isinstance(line, Mapping)
    }


def _line(line: Mapping[str, Any]) -> str:
    return f"{brief(line.get('quantity', 1))} × {brief(line)}"
