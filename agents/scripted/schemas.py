"""The smallest instance of a JSON schema: what is said when nothing is known about the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def minimal_instance(schema: Mapping[str, Any]) -> Any:
    """Return a minimal valid instance: empty strings and lists, first choices, least numbers.

    It knows the part of JSON Schema that pydantic writes for output models.
    """
    return _minimal(schema, schema.get("$defs", {}))


def resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference into the schema's definitions."""
    while "$ref" in schema:
        schema = definitions[str(schema["$ref"]).rsplit("/", 1)[-1]]
    return schema


def _minimal(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    schema = resolved(schema, definitions)
    if "const" in schema:
        return schema["const"]
    for choices in ("enum", "anyOf", "oneOf", "allOf"):
        if choices in schema:
            first = schema[choices][0]
            return first if choices == "enum" else _minimal(first, definitions)
    return _of_type(schema, definitions)


def _of_type(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {
                name: _minimal(fields[name], definitions) for name in schema.get("required", ())
            }
        case "array":
            return [_minimal(schema["items"], definitions)] * schema.get("minItems", 0)
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        case "string":
            return "-" * schema.get("minLength", 0)
        case "boolean":
            return False
        case _:
            return None
