from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cotune.agents.errors import UsageError
from cotune.agents.grocery.catalog import DATA, Catalog, load_catalog
from cotune.agents.grocery.size import Size


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the data that a test may break."""
    return Path(shutil.copytree(DATA, tmp_path / "data"))


def break_text(path: Path, old: str, new: str) -> int:
    """Replace the first occurrence; return its line."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def complaint(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_catalog(folder)
    return str(caught.value)


def test_the_world_is_as_large_as_promised(catalog: Catalog) -> None:
    assert len(catalog.products) >= 300
    assert len({store.type for store in catalog.stores.values()}) >= 6
    assert len(catalog.customers) >= 12
    assert 20 <= len(catalog.brands) <= 30


def test_the_catalogue_is_read_once() -> None:
    assert load_catalog() is load_catalog()


def test_every_product_is_sold_somewhere_and_hardly_any_is_sold_out_everywhere(
    catalog: Catalog,
) -> None:
    shelves = {
        id_: [s.inventory[id_] for s in catalog.stores.values() if id_ in s.inventory]
        for id_ in catalog.products
    }
    assert all(shelves.values())
    assert 1 <= sum(not any(stock) for stock in shelves.values()) <= 10


def test_no_two_products_are_the_same(catalog: Catalog) -> None:
    articles = Counter((p.name, p.brand, p.size) for p in catalog.products.values())
    assert articles.most_common(1)[0][1] == 1


def test_there_is_something_to_choose_from(catalog: Catalog) -> None:
    by_noun = Counter(product.product for product in catalog.products.values())
    assert sum(count >= 4 for count in by_noun.values()) >= 30


def test_a_substitute_keeps_the_diets_of_what_it_replaces(catalog: Catalog) -> None:
    for product in catalog.products.values():
        kept = set(product.diet) - {"organic", "sugar_free"}
        for id_ in product.substitutes:
            assert kept <= set(catalog.products[id_].diet), (product.id, id_)


@pytest.mark.parametrize(
    ("ingredient", "diets"),
    [
        ("milk", {"vegan"}),
        ("honey", {"vegan", "sugar_free"}),
        ("wheat", {"gluten_free"}),
        ("oats", {"gluten_free"}),
        ("pork", {"vegan", "vegetarian", "halal", "kosher"}),
        ("beef gelatin", {"vegan", "vegetarian"}),
        ("animal rennet", {"vegan", "vegetarian"}),
        ("alcohol", {"halal"}),
        ("peanuts", {"nut_free"}),
        ("sugar", {"sugar_free"}),
    ],
)
def test_no_diet_tag_contradicts_an_ingredient(
    catalog: Catalog, ingredient: str, diets: set[str]
) -> None:
    concerned = [p for p in catalog.products.values() if ingredient in p.ingredients]
    assert concerned
    for product in concerned:
        assert not diets & set(product.diet), product.id


def test_customers_never_bought_what_their_diet_or_allergy_forbids(catalog: Catalog) -> None:
    for customer in catalog.customers.values():
        for order in customer.orders:
            for product in (catalog.products[id_] for id_ in order.items):
                assert set(customer.diet) <= set(product.diet), (customer.id, product.id)
                assert not set(customer.allergies) & set(product.allergens)


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("500 g", 0.5, "kg"),
        ("6 x 1.5 l", 9.0, "l"),
        ("33cl", 0.33, "l"),
        ("1,5 Liter", 1.5, "l"),
        ("10 pcs", 10, "piece"),
    ],
)
def test_sizes_are_read(text: str, amount: float, unit: str) -> None:
    assert Size.parse(text) == Size(amount, unit)


@pytest.mark.parametrize("text", ["", "large", "500", "0 g", "3 parsecs", "g 500"])
def test_what_is_no_size_is_none(text: str) -> None:
    assert Size.parse(text) is None


def test_stores_are_found_by_id_name_and_type(catalog: Catalog) -> None:
    for text in ("s-organic", "grünkern", "Organic Market"):
        assert [store.id for store in catalog.stores_called(text)] == ["s-organic"]
    assert len(catalog.stores_called("market")) > 1
    assert catalog.stores_called("") == catalog.stores_called("Moon Shop") == []


def test_an_unknown_substitute_is_named_with_file_and_line(folder: Path) -> None:
    path = folder / "products" / "bakery.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    broken = json.loads(lines[4]) | {"substitutes": ["p-999"]}
    lines[4] = json.dumps(broken)
    path.write_text("\n".join(lines), encoding="utf-8")
    message = complaint(folder)
    assert f"{path}, line 5" in message
    assert "substitute 'p-999'" in message


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("stores.yaml", "p-001: 10", "p-999: 10", "product 'p-999'"),
        ("stores.yaml", "price_factor: 0.95", "price_factor: cheap", "price_factor"),
        ("stores.yaml", "p-001: 10", "p-001: -1", "inventory.p-001"),
        ("stores.yaml", "p-003: 12", "p-001: 12", "'p-001' is given twice"),
        ("stores.yaml", "id: s-organic", "id: s-market", "id 's-market' is taken"),
        ("customers.yaml", "store: s-bosporus\n  budget", "store: s-moon\n  budget", "'s-moon'"),
        ("customers.yaml", "[Freikorn]", "[Freikom]", "brand 'Freikom'"),
        ("customers.yaml", "p-142: 2", "p-400: 2", "'p-400'"),
        ("customers.yaml", "diet: [halal]", "diet: [hallal]", "'hallal'"),
        ("customers.yaml", "name: Linh Pham", "nme: Linh Pham", "name"),
        ("products/drinks.jsonl", '"price": 7.49', '"price": 0', "price"),
        ("products/drinks.jsonl", '"size": "1 l"', '"size": "big"', "'big'"),
        ("products/drinks.jsonl", '"brand"', '"brnad"', "brand"),
        ("products/drinks.jsonl", "{", "{{", "not valid JSON"),
        ("customers.yaml", "diet: [vegan]", "diet: [vegan", "not valid YAML"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    folder: Path, file: str, old: str, new: str, words: str
) -> None:
    line = break_text(folder / file, old, new)
    message = complaint(folder)
    assert words in message
    assert str(folder / file) in message
    reported = int(message.split(", line ")[1].split(":")[0])
    # A field that is missing is reported at its entry, a broken bracket where the parser noticed.
    assert abs(reported - line) <= 2


def test_a_diet_that_contradicts_an_allergen_is_refused(folder: Path) -> None:
    path = folder / "products" / "dairy-and-eggs.jsonl"
    break_text(path, '"diet": ["vegetarian"', '"diet": ["vegan", "vegetarian", "lactose_free"')
    assert "'vegan' contradicts the allergen 'milk'" in complaint(folder)


@pytest.mark.parametrize("missing", ["stores.yaml", "customers.yaml", "products"])
def test_a_missing_file_is_named(folder: Path, missing: str) -> None:
    path = folder / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert str(path) in complaint(folder)
