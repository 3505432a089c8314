from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.scripted import wishes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'd like some oat milk", "oat milk"),
        ("3 tomatoes", "tomato"),
        ("Brötchen bitte", "bread roll"),
        ("una botella de leche", "milk"),
        ("tofu fumé", "smoked tofu"),
        ("豆腐 300 g", "tofu"),
        ("something nice", ""),
        ("2 banannas", ""),
    ],
)
def test_product(text: str, expected: str) -> None:
    assert wishes.product(text) == expected


def test_product_with_spelling() -> None:
    assert wishes.product("2 banannas", spelling=True) == "banana"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three eggs", 3),
        ("a dozen eggs", 12),
        ("half a dozen eggs", 6),
        ("two packs of 500 g", 2),
        ("500 g butter", None),
        ("butter under 15", None),
        ("for six people, one cake", 1),
        ("it was 6.99", None),
        ("eggs", None),
    ],
)
def test_quantity(text: str, expected: float | None) -> None:
    assert wishes.quantity(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500g", "500 g"),
        ("half a kilo", "500 g"),
        ("0.5 l", "500 ml"),
        ("33 cl", "330 ml"),
        ("1000 ml", "1 l"),
        ("a six-pack", "6 pack"),
        ("pack of 16", "16 pack"),
        ("one-litre", "1 l"),
        ("big", ""),
    ],
)
def test_size(text: str, expected: str) -> None:
    assert wishes.size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("under 3 euros", 3),
        ("at most 2.50", 2.5),
        ("max 3,20 each", 3.2),
        ("80 cents is my limit", 0.8),
        ("four jars, no more than 20 euros altogether", 5),
        ("it costs 3 euros", None),
        ("cheap", None),
    ],
)
def test_budget(text: str, expected: float | None) -> None:
    assert wishes.budget(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("without palm oil", ["palm oil"]),
        ("no raisins, no coconut", ["raisin", "coconut"]),
        ("anything but Barilla", ["Barilla"]),
        ("without gluten", []),
        ("no more of it", []),
    ],
)
def test_excluded(text: str, expected: list[str]) -> None:
    assert wishes.excluded(text) == expected


def test_brand_that_is_not_wanted_is_no_brand() -> None:
    assert wishes.brand("spaghetti, anything but Barilla") == ""
    assert wishes.brand("Barilla spaghetti") == "Barilla"
    assert wishes.brand("tea by Grünhof") == "Grünhof"


def test_store() -> None:
    assert wishes.store("quark from Aldi") == "Aldi"
    assert wishes.store("rolls from the bakery") == "bakery"
    assert wishes.store("honey at Lindenmarkt") == "Lindenmarkt"
    assert wishes.store("Honey") == ""


@pytest.mark.parametrize(
    ("size", "expected"), [("500 g", 0.5), ("6 x 1.5 l", 9), ("10 pcs", 10), ("", None)]
)
def test_amount(size: str, expected: float | None) -> None:
    assert wishes.amount(size) == expected


@given(st.text())
def test_nothing_is_too_strange_to_be_read(text: str) -> None:
    wishes.product(text, spelling=True)
    wishes.quantity(text)
    wishes.size(text)
    wishes.budget(text)
    wishes.diets(text, implied=True)
    wishes.brand(text)
    wishes.store(text)
    wishes.amount(text)
    assert all(wishes.excluded(text))
