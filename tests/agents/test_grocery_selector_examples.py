"""The selector's gold against the house rules, applied to a second reading of each request.

`selector_wishes.jsonl` says, by hand, what each request asks for; the rules below then decide
without looking at the gold.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from cotune.agents import grocery
from cotune.agents.grocery.catalog import load_catalog
from cotune.agents.grocery.diet import Diet
from cotune.agents.grocery.size import Size

EXAMPLES = Path(grocery.__file__).parent / "examples" / "selector"
WISHES = Path(__file__).parent / "selector_wishes.jsonl"
SPLITS = {"train": 60, "val": 40, "test": 80}


class Wish(BaseModel):
    """What a request asks for; brands and kinds are alternatives."""

    model_config = ConfigDict(extra="forbid")

    id: str
    kind: tuple[str, ...] = ()
    diet: tuple[Diet, ...] = ()
    exclude: tuple[str, ...] = ()
    max_price: float = math.inf
    exact_size: str = ""
    brand: tuple[str, ...] = ()
    store: str = ""
    prefer: str = ""
    quantity: int = 1
    amount: str = ""


@dataclass(frozen=True)
class Candidate:
    """One candidate, with its size made comparable."""

    id: str
    name: str
    brand: str
    size: Size
    price: float
    diet: frozenset[str]
    in_stock: bool
    store: str

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Candidate:
        return cls(**raw | {"size": size_of(raw["size"]), "diet": frozenset(raw["diet"])})


def size_of(text: str) -> Size:
    size = Size.parse(text)
    assert size is not None, text
    return size


@cache
def examples(split: str) -> list[dict[str, Any]]:
    lines = (EXAMPLES / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


ALL = [example for split in SPLITS for example in examples(split)]


@cache
def wishes() -> dict[str, Wish]:
    lines = WISHES.read_text(encoding="utf-8").splitlines()
    read = [Wish.model_validate_json(line) for line in lines]
    assert len({wish.id for wish in read}) == len(read)
    return {wish.id: wish for wish in read}


# The house rules


def breaks_hard_constraint(candidate: Candidate, wish: Wish) -> bool:
    words = f"{candidate.name} {candidate.brand}".casefold()
    return (
        not candidate.in_stock
        or bool(set(wish.diet) - candidate.diet)
        or any(term.casefold() in words for term in wish.exclude)
        or candidate.price > wish.max_price
        or (bool(wish.exact_size) and candidate.size != size_of(wish.exact_size))
    )


def preference(wish: Wish) -> Callable[[Candidate], tuple[float, ...]]:
    """The soft rules in their order, smaller being better."""

    def other_wish(candidate: Candidate) -> float:
        match wish.prefer.split(":"):
            case ["size", size]:
                return abs(candidate.size.amount - size_of(size).amount)
            case ["smallest"]:
                return candidate.size.amount
            case ["largest"]:
                return -candidate.size.amount
            case ["cheapest"]:
                return candidate.price
            case _:
                return 0.0

    def key(candidate: Candidate) -> tuple[float, ...]:
        unit_price = candidate.price / candidate.size.amount
        return (
            float(bool(wish.brand) and candidate.brand not in wish.brand),
            float(bool(wish.store) and candidate.store != wish.store),
            other_wish(candidate),
            0.0 if wish.prefer == "cheapest" else round(unit_price, 6),
        )

    return key


def decide(candidates: list[Candidate], wish: Wish) -> tuple[set[str], int]:
    fitting = [
        candidate
        for candidate in candidates
        if not breaks_hard_constraint(candidate, wish)
        and (not wish.kind or any(kind in candidate.name.casefold() for kind in wish.kind))
    ]
    if not fitting:
        return {"none"}, wish.quantity
    key = preference(wish)
    best = min(map(key, fitting))
    chosen = [candidate for candidate in fitting if key(candidate) == best]
    if wish.amount:
        return {c.id for c in chosen}, math.ceil(
            size_of(wish.amount).amount / chosen[0].size.amount
        )
    return {c.id for c in chosen}, wish.quantity


# The gold follows from the rules


def test_every_example_has_a_second_reading() -> None:
    assert list(wishes()) == [example["id"] for example in ALL]


@pytest.mark.parametrize("example", ALL, ids=lambda example: example["id"])
def test_the_gold_follows_from_the_house_rules(example: dict[str, Any]) -> None:
    wish, gold = wishes()[example["id"]], example["gold"]
    candidates = [Candidate.of(raw) for raw in example["inputs"]["candidates"]]
    assert set(gold) == {"choice", "quantity", "acceptable", "forbidden"}
    assert (set(gold["acceptable"]), gold["quantity"]) == decide(candidates, wish)
    assert gold["choice"] == gold["acceptable"][0]
    assert gold["forbidden"] == [c.id for c in candidates if breaks_hard_constraint(c, wish)]


@pytest.mark.parametrize("example", ALL, ids=lambda example: example["id"])
def test_the_second_reading_is_in_the_request(example: dict[str, Any]) -> None:
    wish, request = wishes()[example["id"]], example["inputs"]["request"].casefold()
    for name in filter(None, (*wish.brand, wish.store)):
        assert name.casefold().split()[-1] in request, name
    if wish.max_price < math.inf:
        assert f"{wish.max_price:g}" in request
    if wish.exact_size:
        assert "exactly" in request or "exact" in request.replace("-", " ").split()
        assert f"{wish.exact_size.split()[0]}" in request
    for diet in wish.diet:
        stem = {"vegetarian": "vegetari", "organic": "organic"}.get(diet, diet.split("_")[0])
        assert stem in request, diet


@pytest.mark.parametrize("example", ALL, ids=lambda example: example["id"])
def test_candidates_are_as_in_the_catalogue(example: dict[str, Any]) -> None:
    catalog = load_catalog()
    stores = {store.name: store for store in catalog.stores.values()}
    candidates = example["inputs"]["candidates"]
    assert 4 <= len(candidates) <= 7
    assert len({raw["id"] for raw in candidates}) == len(candidates)
    for raw in candidates:
        product, store = catalog.products[raw["id"]], stores[raw["store"]]
        assert product.id in store.inventory
        assert raw == {
            "id": product.id,
            "name": product.name,
            "brand": product.brand,
            "size": product.size,
            "price": store.price(product),
            "diet": list(product.diet),
            "in_stock": raw["in_stock"],
            "store": store.name,
        }
        assert isinstance(raw["in_stock"], bool)


# The set as a whole


@pytest.mark.parametrize(("split", "minimum"), SPLITS.items())
def test_each_split_is_large_and_numbered(split: str, minimum: int) -> None:
    lines = examples(split)
    assert len(lines) >= minimum
    expected = [f"selector-{split}-{number:03d}" for number in range(1, len(lines) + 1)]
    assert [line["id"] for line in lines] == expected
    assert all(set(line) == {"id", "family", "inputs", "gold", "why"} for line in lines)
    assert all(set(line["inputs"]) == {"request", "candidates"} for line in lines)


def test_no_family_is_in_two_splits() -> None:
    families = [{line["family"] for line in examples(split)} for split in SPLITS]
    assert sum(map(len, families)) == len(set.union(*families))


def test_every_rule_is_taught_before_it_is_tested() -> None:
    rules = {split: {line["why"] for line in examples(split)} for split in SPLITS}
    assert rules["test"] == rules["val"] == rules["train"]


@pytest.mark.parametrize("split", SPLITS)
def test_no_shortcut_reaches_the_gold(split: str) -> None:
    """Neither a position, nor the cheapest pack, nor `none` is right too often."""
    lines = examples(split)
    positions = Counter(
        next((n for n, c in enumerate(line["inputs"]["candidates"]) if c["id"] in accepted), -1)
        for line in lines
        if (accepted := line["gold"]["acceptable"])
    )
    cheapest = sum(
        min(line["inputs"]["candidates"], key=lambda c: c["price"])["id"]
        in line["gold"]["acceptable"]
        for line in lines
    )
    assert max(positions.values()) <= 0.35 * len(lines)
    assert 0.08 * len(lines) <= positions[-1] <= 0.2 * len(lines)
    assert cheapest <= 0.4 * len(lines)
