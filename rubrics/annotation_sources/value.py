"""Values: from what people wrote to what it means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ...agents.problem_words import value_in_words
from ...agents.yaml_file import load_yaml
from ...simulation.importers.importer import MalformedError
from ..verdict import Status

Meaning = float | Status
"""A value on a scale, or why there is none."""


class _Words(BaseModel):
    model_config = ConfigDict(extra="forbid")

    passes: tuple[str, ...]
    fails: tuple[str, ...]
    not_applicable: tuple[str, ...]
    inconclusive: tuple[str, ...]


def read_value(written: object, meanings: Mapping[str, Meaning]) -> Meaning:
    """Say what a value means.

    Args:
        written: A text, a number, true or false, or a list of one of these.
        meanings: What texts and numbers mean here; they go before numbers and the usual words.

    Raises:
        MalformedError: It means nothing.
    """
    match written:
        case [one]:
            return read_value(one, meanings)
        case bool():
            text = str(written).lower()
        case int() | float() if math.isfinite(written):
            text = f"{written:g}"
        case str():
            text = " ".join(written.casefold().split())
        case _:
            raise MalformedError(f"found {value_in_words(written)} where a value is expected")
    meant = {name.casefold(): meaning for name, meaning in meanings.items()}.get(text)
    if meant is None:
        meant = _number(text)
    if meant is None:
        meant = _usual_words().get(text)
    if meant is None:
        raise MalformedError(
            f"the value {value_in_words(written)} is neither a number nor a known word; say what "
            "it means with `values`"
        )
    return meant


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@cache
def _usual_words() -> Mapping[str, Meaning]:
    words = load_yaml(_Words, Path(__file__).with_name("words.yaml"), "list of words")
    return {
        **dict.fromkeys(words.passes, 1.0),
        **dict.fromkeys(words.fails, 0.0),
        **dict.fromkeys(words.not_applicable, Status.NOT_APPLICABLE),
        **dict.fromkeys(words.inconclusive, Status.INCONCLUSIVE),
    }
