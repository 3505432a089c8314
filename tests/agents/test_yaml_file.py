from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, Self

import pytest
from pydantic import BaseModel, ConfigDict, Field, model_validator

from cotune.agents.errors import UsageError
from cotune.agents.problem import inconsistent
from cotune.agents.yaml_file import YamlFile, load_yaml

GOOD = """\
# A shop.
name: Corner
kind: bakery
shelves:
  - id: top
    items: [bread, rolls]
  - id: low
    items: [cake]
staff:
  anna: {hours: 8}
"""


class Shelf(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    items: list[str] = Field(min_length=1)


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid")

    hours: int

    @model_validator(mode="after")
    def _rests(self) -> Self:
        if self.hours > 12:
            raise ValueError("a day has 12 hours at most")
        return self


class Shop(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    kind: Literal["bakery", "market"]
    shelves: list[Shelf]
    staff: dict[str, Person] = {}
    motto: str | list[str] = ""

    @model_validator(mode="after")
    def _bakes(self) -> Self:
        empty = [i for i, shelf in enumerate(self.shelves) if "cake" not in shelf.items]
        if self.kind == "market" and empty:
            raise inconsistent([(("shelves", i, "items"), "a market has cake") for i in empty])
        return self


Complaint = Callable[..., str]


@pytest.fixture
def complaint(tmp_path: Path) -> Complaint:
    def complain(text: str | bytes) -> str:
        path = tmp_path / "shop.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(UsageError) as caught:
            load_yaml(Shop, path, "shop file")
        assert str(path) in str(caught.value)
        assert "shop file" in str(caught.value)
        return str(caught.value)

    return complain


def test_a_good_file_becomes_the_model(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(GOOD, encoding="utf-8")
    shop = load_yaml(Shop, path, "shop file")
    assert shop.shelves[1] == Shelf(id="low", items=["cake"])
    assert shop.staff["anna"].hours == 8


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: Corner\n", "", "Line 2, name: this field is missing."),
        (
            "kind: bakery",
            "kind: bank",
            "Line 3, kind: found 'bank'; did you mean 'bakery'? Allowed: 'bakery' or",
        ),
        (
            "hours: 8",
            "hours: many",
            "Line 10, staff.anna.hours: found 'many'; expected a whole number.",
        ),
        (
            "hours: 8",
            "hours: [8]",
            "Line 10, staff.anna.hours: found a list; expected a whole number.",
        ),
        (
            "hours: 8",
            "hours: null",
            "Line 10, staff.anna.hours: found nothing; expected a whole number.",
        ),
        ("hours: 8", "hours: 13", "Line 10, staff.anna: a day has 12 hours at most."),
        ("hours: 8", "hour: 8", "Line 10, staff.anna.hour: no such field; did you mean 'hours'?"),
        ("name: C", "nmae: C", "Line 2, nmae: no such field; did you mean 'name'? Allowed: kind, "),
        ("    items: [cake]", "    colour: red", "Line 7, shelves 'low', items: this field is mis"),
        (
            "    items: [cake]",
            "    colour: red",
            "Line 8, shelves 'low', colour: no such field; al",
        ),
        (
            "[bread, rolls]",
            "[bread, 3]",
            "Line 6, shelves 'top', items entry 2: found 3; expected text in",
        ),
        ("- id: low\n    i", "- i", "Line 7, shelves entry 2, id: this field is missing."),
        ("kind: bakery", "kind: market", "Line 6, shelves 'top', items: a market has cake."),
        (
            "kind: bakery",
            "kind: bakery\nmotto: 3",
            "Line 4, motto: found 3; expected text in quotes or a list.",
        ),
    ],
)
def test_a_mistake_is_named_with_line_and_field(
    complaint: Complaint, old: str, new: str, said: str
) -> None:
    assert old in GOOD
    assert said in complaint(GOOD.replace(old, new, 1))


def test_all_mistakes_are_named_at_once(complaint: Complaint) -> None:
    message = complaint(GOOD.replace("Corner", "[]").replace("hours: 8", "hours: x"))
    assert "Line 2, name" in message
    assert "Line 10, staff.anna.hours" in message


def test_a_long_value_is_not_quoted_whole(complaint: Complaint) -> None:
    assert len(complaint(GOOD.replace("bakery", "b" * 5000))) < 400


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a mapping with the fields name, kind, shelves; found nothing"),
        ("- a\n- b\n", "a mapping with the fields name, kind, shelves; found a list"),
        ("name: a\nkind: [b", "is not valid YAML, line 2: "),
        ("name: a\n\tkind: b", "is not valid YAML, line 2: "),
        ("name: a\n--- \nname: b", "is not valid YAML, line 2: "),
        ("name: !!python/object:os.system x", "is not valid YAML, line 1: "),
        ("name: 2024-13-45", "is not valid YAML: month must be in 1..12."),
        ("name: \x00", "is not valid YAML: "),
        ("[" * 5000, "is not valid YAML: "),
        ("name: a\nkind: b\nname: c", "line 3: 'name' is given twice"),
        ("name: a\nstaff:\n  x: 1\n  y: 2\n  x: 3", "line 5: 'x' is given twice"),
        ("name: &a [*a]", "Line 1, name: found a list; expected text."),
        (b"name: \xff", "Cannot read"),
    ],
)
def test_what_is_no_such_file_is_refused(
    complaint: Complaint, text: str | bytes, said: str
) -> None:
    assert said in complaint(text)


def test_a_merged_mapping_may_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, x: 2}", encoding="utf-8")
    assert YamlFile.read(path, "file").data["b"] == {"x": 2}


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"Cannot read the shop file .*"):
        load_yaml(Shop, tmp_path / name, "shop file")
