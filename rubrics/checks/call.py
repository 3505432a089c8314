"""Checks over one agent call: a field of the answer against the gold answer.

All of them give 1 or 0, are not applicable where the gold answer does not have the field, and
say what was expected and what was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from ...agents.fingerprint import canonical_json
from ..subject import CallRecord
from ..verdict import Finding
from .registry import call_check
from .text import normalise, same_name


@call_check
def equals(record: CallRecord, *, field: str) -> Finding:
    """The field is exactly the gold value."""
    return _compare(record, field, lambda found, gold: found == gold)


@call_check
def same_text(record: CallRecord, *, field: str) -> Finding:
    """The field is the gold text, or one of the gold texts, as `normalise` sees them."""

    def same(found: Any, gold: Any) -> bool:
        accepted = gold if isinstance(gold, list) else [gold]
        return isinstance(found, str) and any(same_name(found, text) for text in accepted)

    return _compare(record, field, same)


@call_check
def same_number(
    record: CallRecord, *, field: str, tolerance: Annotated[float, Field(ge=0)] = 1e-9
) -> Finding:
    """The field is the gold number, give or take `tolerance`; null only equals null."""

    def same(found: Any, gold: Any) -> bool:
        if not (_is_number(found) and _is_number(gold)):
            return found is None and gold is None
        return math.isclose(found, gold, rel_tol=0.0, abs_tol=tolerance)

    return _compare(record, field, same)


@call_check
def same_set(record: CallRecord, *, field: str) -> Finding:
    """The field lists the gold texts, in any order, as `normalise` sees them."""

    def same(found: Any, gold: Any) -> bool:
        return isinstance(found, list) and _texts(found) == _texts(gold)

    return _compare(record, field, same)


@call_check
def one_of(record: CallRecord, *, field: str, accepted: str) -> Finding:
    """The field is a member of the gold list `accepted`."""
    return _compare(record, field, lambda found, gold: found in gold, accepted, "one of ")


@call_check
def none_of(record: CallRecord, *, field: str, forbidden: str) -> Finding:
    """The field is no member of the gold list `forbidden`; an empty list forbids nothing."""
    if record.gold.get(forbidden) == []:
        return Finding.not_applicable(f"the gold list '{forbidden}' is empty")
    return _compare(record, field, lambda found, gold: found not in gold, forbidden, "none of ")


def _compare(
    record: CallRecord,
    field: str,
    right: Callable[[Any, Any], bool],
    gold_field: str | None = None,
    relation: str = "",
) -> Finding:
    gold_field = gold_field or field
    if gold_field not in record.gold:
        return Finding.not_applicable(f"the gold answer has no field '{gold_field}'")
    gold = record.gold[gold_field]
    expected = f"{field}: expected {relation}{_show(gold)}"
    if field not in record.outputs:
        return Finding.scored(0, f"{expected}, but the answer has no such field.")
    found = record.outputs[field]
    rationale = f"{expected}, found {_show(found)}."
    return Finding.scored(right(found, gold), rationale, (f"{field}={_show(found)}",))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _texts(values: list[Any]) -> set[str]:
    return {normalise(value) if isinstance(value, str) else _show(value) for value in values}


def _show(value: Any) -> str:
    return canonical_json(value)
