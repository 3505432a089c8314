"""Places of problems: what pydantic reports, turned into keys and indices of the data itself.

Pydantic also names the branch of a union on the way (`user.agenda.personas`), which stands nowhere
in the data. A place is therefore followed through the model's annotations.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Tag

Place = tuple[str | int, ...]
"""Keys and indices from the root of the data."""

_KEY_ITSELF = "[key]"  # pydantic's last part of a place when the key of a mapping is wrong


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in data, and what belongs there.

    Attributes:
        place: Keys and indices of the data.
        expected: The annotation of what belongs there; `Any` when it is not known.
        around: The model of which it is a field; None when it is none.
    """

    place: Place
    expected: Any
    around: type[BaseModel] | None = None


def follow(model: type[BaseModel], reported: Place) -> Spot:
    """Return the spot that pydantic reported of data that should be a `model`."""
    spot = Spot((), model)
    for part in reported:
        spot = _step(spot, part)
    return spot


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model that an annotation asks for, if it is exactly one."""
    bare = _bare(annotation)
    return bare if isinstance(bare, type) and issubclass(bare, BaseModel) else None


def branches_of(annotation: Any) -> Mapping[str, Sequence[str]]:
    """Return what tells the branches of a union of models apart: field names with their values."""
    told: dict[str, list[str]] = {}
    for branch in typing.get_args(_bare(annotation)):
        model = model_in(branch)
        for name, values in _literals(model).items() if model else ():
            told.setdefault(name, []).extend(values)
    return told


def _step(spot: Spot, part: str | int) -> Spot:
    if part == _KEY_ITSELF:
        return Spot(spot.place, str)
    expected = _bare(spot.expected)
    inside = (*spot.place, part)
    if _is_union(expected):
        return Spot(spot.place, _branch(expected, part), spot.around)
    if (model := model_in(expected)) is not None:
        field = model.model_fields.get(str(part))
        return Spot(inside, Any if field is None else field.annotation, model)
    arguments = typing.get_args(expected)
    if arguments and _is_a(expected, Mapping):
        return Spot(inside, arguments[-1])
    if arguments and _is_a(expected, Sequence):
        return Spot(inside, arguments[0])
    return Spot(inside, Any)


def _bare(annotation: Any) -> Any:
    """Return an annotation without what is attached to it, and without `| None`."""
    while typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    if _is_union(annotation):
        rest = [each for each in typing.get_args(annotation) if each is not types.NoneType]
        if len(rest) == 1:
            return _bare(rest[0])
    return annotation


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (Union, types.UnionType)


def _is_a(annotation: Any, base: type) -> bool:
    origin = typing.get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, base)


def _branch(union: Any, label: str | int) -> Any:
    """Return the branch that pydantic calls by this label."""
    return next((each for each in typing.get_args(union) if label in _labels(each)), Any)


def _labels(branch: Any) -> Sequence[str | int]:
    """Return what pydantic may call a branch: a tag, a discriminating value, a type's name."""
    attached = typing.get_args(branch)[1:] if typing.get_origin(branch) is Annotated else ()
    tags = [each.tag for each in attached if isinstance(each, Tag)]
    bare = _bare(branch)
    if (model := model_in(bare)) is not None:
        return [*tags, model.__name__, *chain.from_iterable(_literals(model).values())]
    return [*tags, bare.__name__] if isinstance(bare, type) else tags


def _literals(model: type[BaseModel]) -> Mapping[str, Sequence[Any]]:
    """Return the fields of a model that have one of some given values, and these."""
    return {
        name: typing.get_args(field.annotation)
        for name, field in model.model_fields.items()
        if typing.get_origin(field.annotation) is Literal
    }
