"""The shop's fixed facts: products, stores and customers, read from the data files.

A diet tag says that a product breaks no rule of that diet, so it can be checked for every
item of a cart; `sugar_free` means no added sugar, and household goods carry all that apply.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from ..data_file import Record, read_jsonl, read_yaml_list
from ..errors import UsageError
from .diet import Diet
from .size import Size

DATA = Path(__file__).parent / "data"

Allergen = Literal[
    "celery",
    "crustaceans",
    "egg",
    "fish",
    "gluten",
    "milk",
    "molluscs",
    "mustard",
    "nuts",
    "peanut",
    "sesame",
    "soy",
    "sulphites",
]
Budget = Literal["thrifty", "average", "generous"]

_SEAFOOD = frozenset({"crustaceans", "molluscs"})
_EXCLUDED: Mapping[str, frozenset[str]] = {
    "vegan": _SEAFOOD | {"milk", "egg", "fish"},
    "vegetarian": _SEAFOOD | {"fish"},
    "gluten_free": frozenset({"gluten"}),
    "kosher": _SEAFOOD,
    "nut_free": frozenset({"nuts", "peanut"}),
}

_Word = Annotated[str, Field(min_length=1, pattern=r"^\S(.*\S)?$")]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: _Word


class Product(_Entry):
    """One article of the catalogue.

    Attributes:
        product: The generic noun people search by, such as `oat milk`.
        aliases: Other nouns it is searched by.
        size: One pack, such as `500 g` or `6 x 1.5 l`.
        price: Euros for one pack, before a store's price factor.
        ingredients: Those of note, not all.
        substitutes: Ids of what to offer instead, best first.
    """

    name: _Word
    product: Annotated[str, Field(pattern=r"^[a-z][a-z -]*$")]
    aliases: tuple[_Word, ...]
    category: _Word
    brand: _Word
    size: _Word
    price: Annotated[float, Field(gt=0)]
    diet: tuple[Diet, ...]
    ingredients: tuple[_Word, ...]
    allergens: tuple[Allergen, ...]
    substitutes: tuple[_Word, ...]

    @model_validator(mode="after")
    def _facts_agree(self) -> Product:
        if Size.parse(self.size) is None:
            raise ValueError(f"size '{self.size}' is not one, such as '500 g' or '6 x 1.5 l'")
        for diet in self.diet:
            wrong = _EXCLUDED.get(diet, frozenset()) & set(self.allergens)
            if wrong:
                raise ValueError(f"diet '{diet}' contradicts the allergen '{min(wrong)}'")
        if "vegan" in self.diet and not {"vegetarian", "lactose_free"} <= set(self.diet):
            raise ValueError("diet 'vegan' needs 'vegetarian' and 'lactose_free' too")
        return self

    @property
    def measure(self) -> Size:
        """The size of one pack in kilograms, litres or pieces."""
        size = Size.parse(self.size)
        if size is None:  # pragma: no cover - refused when the product was read
            raise ValueError(self.size)
        return size


class Store(_Entry):
    """One store.

    Attributes:
        type: Such as `supermarket` or `bakery`.
        price_factor: What its prices are, relative to the catalogue's.
        inventory: How many of each product are on the shelf; absent means not sold there.
    """

    name: _Word
    type: _Word
    price_factor: Annotated[float, Field(gt=0)]
    note: str
    inventory: dict[str, NonNegativeInt]

    def price(self, product: Product) -> float:
        """Euros for one pack in this store."""
        return round(product.price * self.price_factor, 2)


class Order(BaseModel):
    """A past purchase: product ids and how many packs of each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: dt.date
    store: _Word
    items: dict[str, PositiveInt]


class Customer(_Entry):
    """A customer: what the shop remembers about them.

    Attributes:
        household: Number of people.
        avoid: Ingredients they do not want.
        store: Id of the preferred store, if any.
        orders: Oldest first.
    """

    name: _Word
    household: PositiveInt
    diet: tuple[Diet, ...]
    allergies: tuple[Allergen, ...]
    avoid: tuple[_Word, ...]
    brands: tuple[_Word, ...]
    store: _Word | None
    budget: Budget
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """All products, stores and customers by id, in file order."""

    products: Mapping[str, Product]
    stores: Mapping[str, Store]
    customers: Mapping[str, Customer]

    @property
    def brands(self) -> frozenset[str]:
        """Every brand sold."""
        return frozenset(product.brand for product in self.products.values())

    def stores_called(self, text: str) -> list[Store]:
        """Stores that `text` can mean: their id, or a part of their name or type."""
        wanted = text.strip().casefold()
        exact = [s for s in self.stores.values() if wanted in (s.id, s.name.casefold())]
        return exact or [
            store
            for store in self.stores.values()
            if wanted and (wanted in store.name.casefold() or wanted in store.type)
        ]


@cache
def load_catalog(folder: Path = DATA) -> Catalog:
    """Read and check a folder of data files; the result is cached and must not be changed.

    Raises:
        UsageError: A file is missing or malformed, an id is given twice, or a reference does
            not resolve; names the file and line.
    """
    paths = sorted((folder / "products").glob("*.jsonl"))
    if not paths:
        raise UsageError(f"{folder / 'products'} holds no product file (*.jsonl).")
    products = _index((record for path in paths for record in read_jsonl(path)), Product)
    stores = _index(read_yaml_list(folder / "stores.yaml"), Store)
    customers = _index(read_yaml_list(folder / "customers.yaml"), Customer)
    catalog = Catalog(_entries(products), _entries(stores), _entries(customers))
    _check(products, lambda product: _product_references(product, catalog))
    _check(stores, lambda store: _store_references(store, catalog))
    _check(customers, lambda customer: _customer_references(customer, catalog))
    return catalog


_E = TypeVar("_E", bound=_Entry)
_Index = dict[str, tuple[Record, _E]]
# Where a reference stands in its entry, what it names, the id, and the ids there are.
_Reference = tuple[tuple[str | int, ...], str, str, Iterable[str]]


def _index(records: Iterable[Record], model: type[_E]) -> _Index[_E]:
    index: _Index[_E] = {}
    for record in records:
        entry = record.parse(model)
        if entry.id in index:
            first = index[entry.id][0].where("id")
            raise UsageError(f"{record.where('id')}: id '{entry.id}' is taken ({first}).")
        index[entry.id] = (record, entry)
    return index


def _entries(index: _Index[_E]) -> Mapping[str, _E]:
    return MappingProxyType({id_: entry for id_, (_, entry) in index.items()})


def _check(index: _Index[_E], references: Callable[[_E], Iterable[_Reference]]) -> None:
    for record, entry in index.values():
        for field, kind, name, known in references(entry):
            if name not in known:
                raise UsageError(
                    f"{record.where(*field)}: {entry.id} refers to the {kind} '{name}', "
                    "which there is not."
                )


def _product_references(product: Product, catalog: Catalog) -> Iterable[_Reference]:
    others = set(catalog.products) - {product.id}
    for number, name in enumerate(product.substitutes):
        yield ("substitutes", number), "substitute", name, others


def _store_references(store: Store, catalog: Catalog) -> Iterable[_Reference]:
    for name in store.inventory:
        yield ("inventory", name), "product", name, catalog.products


def _customer_references(customer: Customer, catalog: Catalog) -> Iterable[_Reference]:
    if customer.store is not None:
        yield ("store",), "store", customer.store, catalog.stores
    for number, name in enumerate(customer.brands):
        yield ("brands", number), "brand", name, catalog.brands
    for number, order in enumerate(customer.orders):
        yield ("orders", number, "store"), "store", order.store, catalog.stores
        sold = catalog.stores[order.store].inventory if order.store in catalog.stores else {}
        for name in order.items:
            yield ("orders", number, "items", name), f"product of {order.store}", name, sold
