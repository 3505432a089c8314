"""Problems: what is wrong with given data, and where in it, in words for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from .problem_place import Place, Spot, follow
from .problem_words import explain, is_wrong_kind, union_field, wrong_kind

__all__ = ["Place", "Problem", "inconsistent", "problems_of"]

Problem = tuple[Place, str]
"""Where, and what is wrong there."""

_Reported = tuple[ErrorDetails, Spot]


def problems_of(error: ValidationError, model: type[BaseModel]) -> Iterator[Problem]:
    """Yield every problem that validation found; there is at least one.

    Args:
        error: What pydantic raised.
        model: What the data should have been, for the names of its fields.
    """
    details = error.errors(include_url=False)
    reported = [(detail, follow(model, detail["loc"])) for detail in details]
    for place, same in _by_place(reported).items():
        detail, spot = same[0]
        if detail["type"] == "inconsistent":
            inner: Sequence[Problem] = detail.get("ctx", {})["problems"]
            yield from ((place + at, message) for at, message in inner)
        elif all(is_wrong_kind(each) for each, _ in same):
            yield place, wrong_kind(detail["input"], same)
        elif (field := union_field(detail)) is not None:
            yield (*place, field), explain(detail, spot)
        else:
            yield place, explain(detail, spot)


def inconsistent(problems: Sequence[Problem]) -> PydanticCustomError:
    """Return what a model's validator raises when fields do not go together.

    Args:
        problems: All of them, with places relative to the model.
    """
    text = "; ".join(message for _, message in problems)
    return PydanticCustomError("inconsistent", "{text}", {"text": text, "problems": problems})


def _by_place(reported: Sequence[_Reported]) -> dict[Place, list[_Reported]]:
    """Gather what is said of one place: of a union, pydantic says it for every branch.

    A branch whose kind is the right one has more to say than that another would do, too.
    """
    telling = [spot.place for detail, spot in reported if not is_wrong_kind(detail)]
    within = [spot.place for _, spot in reported]
    found: dict[Place, list[_Reported]] = {}
    for detail, spot in reported:
        place = spot.place
        is_outdone = place in telling or any(
            len(other) > len(place) and other[: len(place)] == place for other in within
        )
        if not (is_wrong_kind(detail) and is_outdone):
            found.setdefault(place, []).append((detail, spot))
    return found
