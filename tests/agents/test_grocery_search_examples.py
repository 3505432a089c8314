"""The search examples hold what the shop's extraction policy promises, line by line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

import cotune.agents.grocery
from cotune.agents.grocery.diet import Diet

SPLITS = ("train", "val", "test")
LEAST_EXAMPLES = {"train": 60, "val": 40, "test": 80}
LEAST_FAMILIES = {"train": 12, "val": 12, "test": 20}
FOLDER = Path(cotune.agents.grocery.__file__).parent / "examples" / "search"

Trimmed = Annotated[str, StringConstraints(pattern=r"^(\S(.*\S)?)?$")]
Filled = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$")]
Noun = Annotated[str, StringConstraints(pattern=r"^[^\WA-Z]+([ '-][^\WA-Z]+)*$")]
Size = Annotated[str, StringConstraints(pattern=r"^([1-9]\d*(\.\d+)? (g|kg|ml|l|pack))?$")]


class Strict(BaseModel):
    """Every field is required and no other one is allowed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(Strict):
    """What the search agent has to return."""

    product: Noun
    quantity: Annotated[int, Field(gt=0)]
    size: Size
    brand: Trimmed
    diet: list[Diet]
    max_price: Annotated[float, Field(gt=0)] | None
    exclude: list[Filled]
    store: Trimmed


class Inputs(Strict):
    """What the search agent receives."""

    message: Filled
    previous: Query | None


class Example(Strict):
    """One line of a split."""

    id: str
    family: Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$")]
    inputs: Inputs
    gold: Query
    why: Annotated[str, StringConstraints(pattern=r"^[A-Z][^.]+\.$")]


def load(split: str) -> list[Example]:
    lines = (FOLDER / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Example.model_validate_json(line) for line in lines]


def families(split: str) -> set[str]:
    return {example.family for example in load(split)}


def rules(split: str) -> set[str]:
    return {example.why for example in load(split)}


@pytest.mark.parametrize("split", SPLITS)
def test_split_is_large_and_varied_enough(split: str) -> None:
    assert len(load(split)) >= LEAST_EXAMPLES[split]
    assert len(families(split)) >= LEAST_FAMILIES[split]


@pytest.mark.parametrize("split", SPLITS)
def test_ids_count_up(split: str) -> None:
    examples = load(split)
    assert [example.id for example in examples] == [
        f"search-{split}-{number:03d}" for number in range(1, len(examples) + 1)
    ]


@pytest.mark.parametrize(("one", "other"), [("train", "val"), ("train", "test"), ("val", "test")])
def test_no_family_is_in_two_splits(one: str, other: str) -> None:
    assert families(one).isdisjoint(families(other))


def test_no_message_with_the_same_previous_query_occurs_twice() -> None:
    seen = [e.inputs.model_dump_json().lower() for split in SPLITS for e in load(split)]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("split", ["val", "test"])
def test_every_rule_asked_about_can_be_learned_from_train(split: str) -> None:
    assert rules(split) <= rules("train")


@pytest.mark.parametrize("split", SPLITS)
def test_every_field_is_exercised(split: str) -> None:
    default = Query(
        product="x", quantity=1, size="", brand="", diet=[], max_price=None, exclude=[], store=""
    )
    for field in Query.model_fields:
        unusual = [e for e in load(split) if getattr(e.gold, field) != getattr(default, field)]
        assert len(unusual) >= 2, field


@pytest.mark.parametrize("split", SPLITS)
def test_gold_is_consistent(split: str) -> None:
    for example in load(split):
        gold = example.gold
        assert gold != example.inputs.previous, example.id
        assert len(set(gold.diet)) == len(gold.diet), example.id
        assert len(set(gold.exclude)) == len(gold.exclude), example.id
        assert gold.brand not in gold.exclude, example.id
        assert gold.store not in gold.exclude, example.id
        assert not gold.brand or gold.brand.lower() not in gold.product, example.id


def changed_fields(before: Query, after: Query) -> set[str]:
    return {name for name in Query.model_fields if getattr(before, name) != getattr(after, name)}


@pytest.mark.parametrize("split", SPLITS)
def test_revisions_leave_most_of_the_previous_query_alone(split: str) -> None:
    for example in load(split):
        previous = example.inputs.previous
        if previous is None or "fresh query" in example.why:
            continue
        assert len(changed_fields(previous, example.gold)) <= 2, example.id


@pytest.mark.parametrize("split", SPLITS)
def test_rules_do_not_quote_the_message(split: str) -> None:
    for example in load(split):
        names = [example.gold.brand, example.gold.store]
        for name in filter(None, names):
            assert not re.search(rf"\b{re.escape(name)}\b", example.why), example.id
