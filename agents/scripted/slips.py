"""Slips: plausible wrong answers, which fit the schema and differ from the right one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .call import Call
from .chance import pick
from .schemas import resolved


def slip(call: Call, said: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return an answer with one field changed, or the same where no field can be.

    Args:
        call: What was asked; its schema says what fits.
        said: The answer meant.
        salt: What the draws depend on.
    """
    fields = call.schema.get("properties", {})
    definitions = call.schema.get("$defs", {})
    changes = [
        (name, other)
        for name, value in said.items()
        if name in fields
        for other in _alternatives(value, fields[name], definitions)
    ]
    if not changes:
        return dict(said)
    changed = pick(sorted({name for name, _ in changes}), salt, "field")
    value = pick([other for name, other in changes if name == changed], salt, "value")
    return {**said, changed: value}


def _alternatives(
    value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> list[Any]:
    schema = resolved(schema, definitions)
    if "enum" in schema:
        return [other for other in schema["enum"] if other != value]
    if "anyOf" in schema:
        return [] if value is None else [None]
    if isinstance(value, list) and not value:
        items = resolved(schema.get("items", {}), definitions)
        return [[other] for other in items.get("enum", ())]
    return _neighbours(value)


def _neighbours(value: Any) -> list[Any]:
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1] + ([value - 1] if value > 1 else [])
        case str():
            shorter = " ".join(value.split()[:-1])
            return [shorter] if shorter else []
        case list():
            return [value[:-1]]
        case _:
            return []
