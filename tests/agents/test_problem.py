"""What is wrong with data is said as a person would say it, at the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from cotune.agents.problem import problems_of

JARGON = re.compile(r"input should|valid (?:string|integer|dictionary|list|tuple)|tag|extra inputs")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Cat(_Model):
    kind: Literal["cat"] = "cat"
    lives: int = Field(default=9, ge=1, le=9)
    toys: tuple[str, ...] = ()


class Dog(_Model):
    kind: Literal["dog"] = "dog"
    name: str = Field(min_length=1)
    friend: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def _form(value: object) -> str:
    return "word" if isinstance(value, str) else "steps"


class Home(_Model):
    pets: list[Pet] = []
    by_name: dict[str, Pet] = {}
    floor: str | float = 0
    rooms: int | list[str] = 1
    walls: Annotated[
        Annotated[Literal["white"], Tag("word")] | Annotated[tuple[Cat, ...], Tag("steps")],
        Discriminator(_form),
    ] = "white"
    door: bool = True
    address: Path | None = None


def said(data: Any) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        Home.model_validate(data)
    return [(".".join(map(str, at)), words) for at, words in problems_of(caught.value, Home)]


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        # the branch of a union stands nowhere in the data
        ({"pets": [{"kind": "cat", "lives": 0}]}, "pets.0.lives", "found 0; expected a number of"),
        ({"pets": [{"kind": "dog"}]}, "pets.0.name", "this field is missing"),
        ({"by_name": {"a": {"kind": "dog", "name": 3}}}, "by_name.a.name", "expected text in quo"),
        ({"walls": [{"lives": "x"}]}, "walls.0.lives", "found 'x'; expected a whole number"),
        (
            {"pets": [{"kind": "dog", "name": "a", "friend": {"kind": "cat", "livs": 1}}]},
            "pets.0.friend.livs",
            "no such field; did you mean 'lives'? Allowed: kind, lives, toys",
        ),
        # which branch is meant
        ({"pets": [{"kind": "cta"}]}, "pets.0.kind", "did you mean 'cat'? Allowed: 'cat', 'dog'"),
        ({"pets": [{"lives": 1}]}, "pets.0.kind", "this field is missing; allowed: 'cat', 'dog'"),
        ({"pets": ["dog"]}, "pets.0", "found 'dog'; expected a mapping such as {kind: dog, …}"),
        ({"pets": [3]}, "pets.0", "found 3; expected a mapping such as {kind: cat, …}"),
        # several kinds are allowed
        ({"floor": [1]}, "floor", "found a list; expected text or a number"),
        ({"floor": None}, "floor", "expected text or a number, or leave the field out"),
        ({"rooms": ["a", 1]}, "rooms.1", "found 1; expected text in quotes"),
        # kinds
        ({"door": "open"}, "door", "found 'open'; expected true or false"),
        ({"address": 3}, "address", "found 3; expected the path of a file"),
        ({"pets": {}}, "pets", "found an empty mapping; expected a list"),
        ({"by_name": {1: {"kind": "cat"}}}, "by_name.1", "found 1; expected text in quotes"),
        ({1: 2}, "1", "no such field; allowed: address, by_name, door, floor"),
        ([], "", "found an empty list; expected a mapping with pets, by_name"),
    ],
)
def test_a_problem_stands_at_its_place_in_plain_words(data: Any, place: str, words: str) -> None:
    ((where, what),) = said(data)
    assert where == place
    assert words in what
    assert not JARGON.search(what.lower())


def test_every_problem_is_named_once() -> None:
    problems = said({"pets": [{"kind": "cat", "lives": 10, "toys": 3}], "floor": {}, "dor": 1})
    assert [at for at, _ in problems] == ["pets.0.lives", "pets.0.toys", "floor", "dor"]


def test_no_branch_is_named_whatever_is_wrong_in_it() -> None:
    branches: Sequence[str] = ("Cat", "Dog", "steps", "word", "str", "float")
    deep = {"kind": "dog", "name": "", "friend": {"kind": "dog", "friend": {"kind": "cat", "x": 1}}}
    for at, _ in said({"pets": [deep], "walls": [deep], "floor": {}}):
        assert not set(at.split(".")) & set(branches)
