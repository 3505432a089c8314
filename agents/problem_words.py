"""Problems in words: what was found at a place of the data, and what belongs there."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from .problem_place import Spot, branches_of, model_in

_LONGEST_QUOTE = 80

_TEXT, _MAPPING = "text", "a mapping"
_KINDS: Mapping[str, str] = {
    "string_type": _TEXT,
    "string_sub_type": _TEXT,
    "path_type": "the path of a file",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
}
"""What belongs where pydantic found something of another kind."""
_RANGES: Mapping[str, str] = {
    "greater_than": "a number greater than {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than": "a number less than {lt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "string_too_long": "a text of at most {max_length} characters",
    "too_long": "a list of at most {max_length}",
    "string_pattern_mismatch": "a text of the form {pattern}",
}
_NAME_PATTERN = "^[a-z][a-z0-9_]*$"
_NAME = "a name of small letters, digits and _ that starts with a letter"


def is_wrong_kind(detail: ErrorDetails) -> bool:
    """Say whether a value is of another kind than what belongs there, such as a list."""
    return detail["type"] in _KINDS


def explain(detail: ErrorDetails, spot: Spot) -> str:
    """Say what was found at one place and what is allowed there.

    Args:
        detail: What pydantic says of it.
        spot: The place.
    """
    found, context = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            said = "this field is missing"
        case "extra_forbidden" | "invalid_key":
            said = _unknown_field(spot.place[-1], spot.around)
        case "literal_error" | "enum":
            said = _no_such_value(found, context["expected"])
        case "union_tag_invalid":
            said = _no_such_value(context["tag"], context["expected_tags"])
        case "union_tag_not_found":
            known = branches_of(spot.expected)[_field_in(context["discriminator"])]
            said = f"this field is missing; allowed: {', '.join(map(repr, known))}"
        case "value_error":  # raised by a validator of ours, whose words are a sentence already
            said = detail["msg"].removeprefix("Value error, ")
            if found is None or isinstance(found, (str, int, float)):
                said = f"found {value_in_words(found)}; {said}"
        case _:
            said = f"found {value_in_words(found)}; {_expected(detail)}"
    return said


def wrong_kind(found: Any, alternatives: Sequence[tuple[ErrorDetails, Spot]]) -> str:
    """Say what was found, and of which kinds it may be.

    Args:
        found: The value.
        alternatives: What pydantic says of it, once for each kind that is allowed.
    """
    kinds = dict.fromkeys(_kind(detail, spot) for detail, spot in alternatives)
    # YAML takes 80331, 2.50 and yes for no text unless they are quoted.
    unquoted = found is not None and not isinstance(found, (Mapping, list))
    said = [f"{kind} in quotes" if kind == _TEXT and unquoted else kind for kind in kinds]
    is_optional = found is None and any(_may_be_left_out(spot) for _, spot in alternatives)
    or_not = ", or leave the field out" if is_optional else ""
    return f"found {value_in_words(found)}; expected {' or '.join(said)}{or_not}"


def json_in_words(error: ValueError | RecursionError) -> str:
    """Say why a line is not JSON, and where in it."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[0].lower()}{error.msg[1:]} at character {error.pos + 1}"
    return str(error)


def union_field(detail: ErrorDetails) -> str | None:
    """Return the field that tells the branches of a union apart, when the problem is about it."""
    if detail["type"] not in ("union_tag_invalid", "union_tag_not_found"):
        return None
    return _field_in(detail.get("ctx", {})["discriminator"])


def value_in_words(value: Any) -> str:
    """Quote a value, or say what kind of thing it is."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str() | int() | float():
            return f"{value!r:.{_LONGEST_QUOTE}}"
        case Mapping():
            return _MAPPING if value else "an empty mapping"
        case Sequence():
            return "a list" if value else "an empty list"
        case _:  # such as a date
            return f"{str(value)!r:.{_LONGEST_QUOTE}} ({type(value).__name__})"


def _may_be_left_out(spot: Spot) -> bool:
    field = spot.around.model_fields.get(str(spot.place[-1])) if spot.around else None
    return field is not None and not field.is_required()


def _kind(detail: ErrorDetails, spot: Spot) -> str:
    """Name the kind that belongs at a place; of a mapping also what must be in it."""
    kind = _KINDS[detail["type"]]
    if kind != _MAPPING:
        return kind
    for field, values in branches_of(spot.expected).items():
        example = detail["input"] if detail["input"] in values else values[0]
        return f"{kind} such as {{{field}: {example}, …}}"
    model = model_in(spot.expected)
    fields = model.model_fields if model else {}
    required = [name for name, field in fields.items() if field.is_required()]
    named = ", ".join(required or fields)
    return f"{kind} with {named}" if named else kind


def _expected(detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "string_too_short" | "too_short" if context["min_length"] == 1:
            return "it must not be empty"
        case "string_too_short":
            return f"expected a text of at least {context['min_length']} characters"
        case "too_short":
            return f"expected at least {context['min_length']} of them"
        case "string_pattern_mismatch" if context["pattern"] == _NAME_PATTERN:
            return f"expected {_NAME}"
        case kind if kind in _RANGES:
            return f"expected {_RANGES[kind].format(**context)}"
        case _:  # pydantic's own words, of a rare kind or a validator's
            return f"{detail['msg'][0].lower()}{detail['msg'][1:]}"


def _no_such_value(found: Any, allowed: str) -> str:
    """Say which values there are instead, the most similar one first.

    Args:
        found: What was found.
        allowed: The values as pydantic lists them, in quotes.
    """
    near = difflib.get_close_matches(str(found).lower(), re.findall(r"'([^']*)'", allowed), n=1)
    meant = f"did you mean '{near[0]}'? Allowed" if near else "allowed"
    return f"found {value_in_words(found)}; {meant}: {allowed}"


def _unknown_field(name: str | int, model: type[BaseModel] | None) -> str:
    """Say which fields there are instead, the most similar one first."""
    known = sorted(model.model_fields) if model else []
    near = difflib.get_close_matches(str(name), known, n=1)
    meant = f"did you mean '{near[0]}'? Allowed" if near else "allowed"
    return f"no such field; {meant}: {', '.join(known)}" if known else "no such field"


def _field_in(discriminator: str) -> str:
    return discriminator.strip("'")
