"""Filling the gaps of a family's scenario.

Beside a scenario's own fields, a family may write for short:

- `{name}` or `{name.part}` in a text: the value that was drawn; as the whole text it keeps its
  type, so that `quantity: "{a.quantity}"` is a number and `out_of_stock: "{a.ids}"` a list;
- `{one_of: [...]}` in any place: one of these;
- `{slot: a, ...}` for an errand: an item errand for the slot's product;
- `{diet: [vegan, organic], price: 3.5}` for a list of terms, each as the vocabulary writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Any

from ...agents.errors import CotuneError
from .draw import Values
from .specification import TermKind

_GAP = re.compile(r"\{([a-z_]+)(?:\.([a-z_]+))?\}")
_SENTENCES = ("goal", "opening", "say")
_START = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")
_TERM_LISTS = ("must", "prefer", "constraints", "preferences")


def fill(
    skeleton: Any, values: Values, kinds: Mapping[str, TermKind], rng: Random, key: str = ""
) -> Any:
    """Return a part of a family's scenario with all gaps filled.

    Args:
        skeleton: The part.
        values: What was drawn, by name.
        kinds: Kinds of terms.
        rng: Chooses where one of several is wanted.
        key: The field that the part is the value of.

    Raises:
        CotuneError: A gap names a value or a kind of term that there is not.
    """
    if isinstance(skeleton, str):
        text = _text(skeleton, values)
        return _sentences(text) if key in _SENTENCES else text
    if isinstance(skeleton, list):
        return [fill(part, values, kinds, rng) for part in skeleton]
    if not isinstance(skeleton, Mapping):
        return skeleton
    if skeleton.keys() == {"one_of"}:
        return fill(rng.choice(skeleton["one_of"]), values, kinds, rng, key)
    filled = {
        _text(name, values): fill(part, values, kinds, rng, name) for name, part in skeleton.items()
    }
    if key in _TERM_LISTS:
        return [
            _term(kind, value, kinds)
            for kind, said in filled.items()
            for value in (said if isinstance(said, list) else [said])
        ]
    return _errand(filled, values) if "slot" in filled else filled


def _text(text: str, values: Values) -> Any:
    whole = _GAP.fullmatch(text)
    if whole:
        return _value(whole, values)
    return _GAP.sub(lambda gap: _said(_value(gap, values)), text)


def _value(gap: re.Match[str], values: Values) -> Any:
    name, part = gap.groups()
    try:
        return values[name] if part is None else values[name][part]
    except (KeyError, TypeError) as error:
        raise CotuneError(
            f"The specification has the gap '{gap[0]}', and no such value is drawn; there are "
            f"{', '.join(sorted(values))}."
        ) from error


def _said(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _sentences(text: str) -> str:
    return _START.sub(lambda start: start[0].upper(), text)


def _errand(filled: dict[str, Any], values: Values) -> dict[str, Any]:
    slot = filled.pop("slot")
    item = values[slot]
    return {
        "kind": "item",
        "id": slot,
        "item": item["noun"],
        "quantity": item["quantity"],
        **filled,
    }


def _term(kind: str, value: Any, kinds: Mapping[str, TermKind]) -> dict[str, Any]:
    if kind not in kinds:
        raise CotuneError(
            f"The specification has no kind of term '{kind}'; there are {', '.join(kinds)}."
        )
    how = kinds[kind]
    said = _said(value).replace("_", "-")
    return {
        "field": how.field,
        "operator": how.operator,
        "value": value,
        "say": how.say.replace("{value}", said),
    }
