"""Finding products: a query of the search agent, and how well a product answers it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ..singular import singular
from .catalog import Product
from .diet import Diet
from .size import Size
from .world import Offer

_WORD = re.compile(r"[^\W_]+")


class Query(BaseModel):
    """What the search agent writes; see its prompt for the meaning of the fields.

    Attributes:
        product: Generic noun, singular, lower case.
        quantity: Packs wanted; it does not change what is found.
        size: Such as `500 g`; empty when any will do.
        brand: Empty when any will do.
        diet: Tags that a product must carry.
        max_price: Euros for one pack.
        exclude: Ingredients, allergens or brands that are not wanted.
        store: Id, name or type of a store; empty when any will do.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    product: Annotated[str, Field(min_length=1)]
    quantity: float = 1
    size: str = ""
    brand: str = ""
    diet: tuple[Diet, ...] = ()
    max_price: float | None = None
    exclude: tuple[str, ...] = ()
    store: str = ""


class Rank(NamedTuple):
    """How well a product answers a query; the less, field by field, the better.

    Attributes:
        broken: How many of the terms that must hold do not.
        distance: The product's `closeness`.
        sold_out: Whether none is left.
        other_brand: Whether another brand is wanted.
        other_size: Whether another size is wanted.
        unit_price: Euros for a kilogram, a litre or a piece.
        product_id: Decides between equals, so that the order is always the same.
    """

    broken: int
    distance: int
    sold_out: bool
    other_brand: bool
    other_size: bool
    unit_price: float
    product_id: str


def closeness(wanted: str, product: Product) -> int | None:
    """Say how near a product's nouns are to the wanted one, 0 being the noun itself.

    1 is an alias, 2 a special kind (`oat milk` for `milk`), 3 the general kind (`apple` for
    `red apple`), 4 a product whose name holds all the words, 5 one whose noun occurs in what is
    wanted. None is unrelated.
    """
    words = _words(wanted)
    nouns = [_words(noun) for noun in (product.product, *product.aliases)]
    named = {*_words(product.name), *(word for noun in nouns for word in noun)}
    degrees = (
        words == nouns[0],
        words in nouns,
        any(noun[-len(words) :] == words for noun in nouns),
        any(words[-len(noun) :] == noun for noun in nouns),
        set(words) <= named,
        any(set(noun) <= set(words) for noun in nouns),
    )
    return degrees.index(True) if words and True in degrees else None


def rank(query: Query, product: Product, offer: Offer, distance: int) -> Rank:
    """Return the place of a product among others: a sort key, best first.

    Args:
        query: What is wanted.
        product: A product that answers it more or less.
        offer: Where and for how much it is to be had.
        distance: Its `closeness`.
    """
    size = Size.parse(query.size)
    return Rank(
        broken=_broken_terms(query, product, offer),
        distance=distance,
        sold_out=offer.stock == 0,
        other_brand=bool(query.brand) and _words(query.brand) != _words(product.brand),
        other_size=size is not None and size != product.measure,
        unit_price=offer.price / product.measure.amount,
        product_id=product.id,
    )


def _broken_terms(query: Query, product: Product, offer: Offer) -> int:
    """Count what the customer ruled out and the product has all the same."""
    missing = len(set(query.diet) - set(product.diet))
    too_dear = query.max_price is not None and offer.price > query.max_price
    facts = (product.brand, product.name, *product.ingredients, *product.allergens)
    unwanted = sum(any(_mentions(fact, term) for fact in facts) for term in query.exclude)
    return missing + too_dear + unwanted


def _mentions(fact: str, term: str) -> bool:
    words = _words(term)
    return bool(words) and set(words) <= set(_words(fact))


@lru_cache(maxsize=8192)  # the catalogue's few thousand names, read at every search
def _words(text: str) -> tuple[str, ...]:
    """Return the words in lower case and without a plural ending."""
    return tuple(singular(word) for word in _WORD.findall(text.casefold()))
