"""Problems: what is wrong with given data, and where in it, in words for a person."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

Place = tuple[str | int, ...]
"""Keys and indices from the root of the data."""
Problem = tuple[Place, str]
"""Where, and what is wrong there."""

_LONGEST_QUOTE = 80


def problems_of(error: ValidationError, model: type[BaseModel]) -> Iterator[Problem]:
    """Yield every problem that validation found; there is at least one.

    Args:
        error: What pydantic raised.
        model: What the data should have been, for the names of its fields.
    """
    for detail in error.errors(include_url=False):
        place = detail["loc"]
        match detail["type"]:
            case "inconsistent":
                inner: Sequence[Problem] = detail.get("ctx", {})["problems"]
                yield from ((place + at, message) for at, message in inner)
            case "extra_forbidden":
                yield place, _unknown_field(model, place)
            case _:
                yield place, _explain(detail)


def inconsistent(problems: Sequence[Problem]) -> PydanticCustomError:
    """Return what a model's validator raises when fields do not go together.

    Args:
        problems: All of them, with places relative to the model.
    """
    text = "; ".join(message for _, message in problems)
    return PydanticCustomError("inconsistent", "{text}", {"text": text, "problems": problems})


def _explain(detail: ErrorDetails) -> str:
    """Say what was found at one place and what is allowed there."""
    kind, found, message = detail["type"], detail["input"], detail["msg"]
    is_scalar = found is None or isinstance(found, (str, int, float, bool))
    if kind == "missing":
        return "this field is missing"
    if kind == "value_error":  # raised by a validator of ours, whose words are a sentence already
        message = message.removeprefix("Value error, ")
        if not is_scalar:
            return message
    shown = f"{found!r:.{_LONGEST_QUOTE}}" if is_scalar else type(found).__name__
    return f"found {shown}; {message[0].lower()}{message[1:]}"


def _unknown_field(model: type[BaseModel], place: Place) -> str:
    """Say which fields there are instead, the most similar one first."""
    known = sorted(_fields_at(model, place[:-1]))
    near = difflib.get_close_matches(str(place[-1]), known, n=1)
    meant = f"did you mean '{near[0]}'? Allowed" if near else "allowed"
    return f"no such field; {meant}: {', '.join(known)}" if known else "no such field"


def _fields_at(model: type[BaseModel], place: Place) -> Sequence[str]:
    """Return the field names of the model found by following a place from the root."""
    current = model
    for key in place:
        field = current.model_fields.get(str(key))
        if field is not None:  # else an index, a key of a mapping, or pydantic's tag of a union
            inside = _models_in(field.annotation)
            if not inside:
                return []
            current = inside[0]
    return list(current.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in typing.get_args(annotation) for found in _models_in(part)]
