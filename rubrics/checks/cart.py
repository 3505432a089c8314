"""Carts: what is in one, what should be, and which line answers which wish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict
from scipy.optimize import linear_sum_assignment

from ...simulation.trajectory import Trajectory
from .text import same_name

_NOT_THE_PRODUCT = 1000.0


class Wish(BaseModel):
    """One item the final cart should hold.

    Attributes:
        product: Generic noun, such as `oat milk`.
        quantity: Units; None when any amount will do.
        brand: Wanted brand; None when any will do.
        diet: Labels this item must carry. When given, it replaces the customer's general diet for
            this item, so an empty list says that diet is no matter here (dish soap).
        max_price: Euros per unit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    product: str
    quantity: float | None = None
    brand: str | None = None
    diet: tuple[str, ...] | None = None
    max_price: float | None = None


class Line(BaseModel):
    """One line of a cart in the world's snapshot; fields no check needs are ignored.

    Attributes:
        product_id: The catalogue's id.
        name: As the shop shows it.
        product: Generic noun.
        brand: Brand.
        quantity: Units.
        price: Euros per unit.
        diet: Labels the product carries.
        approved_substitute_for: Id of the product that the customer agreed to replace.
        replaced_product: Generic noun of that product.
    """

    model_config = ConfigDict(frozen=True)

    product_id: str
    name: str
    product: str
    brand: str
    quantity: float
    price: float
    diet: tuple[str, ...] = ()
    approved_substitute_for: str | None = None
    replaced_product: str | None = None

    def __str__(self) -> str:
        return f"{self.quantity:g} x {self.brand} {self.name} ({self.product_id}, {self.price:.2f})"


@dataclass(frozen=True, slots=True)
class Matching:
    """Which line of a cart answers which wish, one to one.

    Attributes:
        pairs: Every wish in order, with its line or None.
        left_over: The lines that answer no wish.
    """

    pairs: tuple[tuple[Wish, Line | None], ...]
    left_over: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """One way in which a cart is not as it should be, and the line concerned, if there is one."""

    said: str
    line: Line | None = None


def cart_in(state: Mapping[str, Any]) -> tuple[Line, ...] | None:
    """Return the cart that a state shows; None when it shows none."""
    raw = state.get("cart")
    return None if raw is None else tuple(Line.model_validate(line) for line in raw)


def final_cart(trajectory: Trajectory) -> tuple[Line, ...] | None:
    """Return the cart at the end; None when the state does not show one."""
    return cart_in(trajectory.final_state)


def quantities(state: Mapping[str, Any]) -> dict[str, float]:
    """Return the units of each product in a state's cart, by product id; empty without a cart."""
    units: dict[str, float] = {}
    for line in cart_in(state) or ():
        units[line.product_id] = units.get(line.product_id, 0.0) + line.quantity
    return units


def last_change(trajectory: Trajectory, product_id: str) -> int | None:
    """Return the last turn in which a product's units changed; None when it was there before."""
    states = [trajectory.initial_state, *(turn.state for turn in trajectory.turns)]
    units = [quantities(state).get(product_id, 0.0) for state in states]
    changes = [turn for turn, (old, new) in enumerate(pairwise(units)) if old != new]
    return changes[-1] if changes else None


def match(wishes: Sequence[Wish], cart: Sequence[Line]) -> Matching:
    """Pair wishes and lines so that as few wishes as possible are unmet or badly met."""
    cost = np.array([[_cost(wish, line) for line in cart] for wish in wishes])
    cost = cost.reshape(len(wishes), len(cart))
    rows, columns = linear_sum_assignment(cost)
    found = {
        int(row): int(column)
        for row, column in zip(rows, columns, strict=True)
        if cost[row, column] < _NOT_THE_PRODUCT
    }
    pairs = tuple(
        (wish, cart[found[index]] if index in found else None) for index, wish in enumerate(wishes)
    )
    taken = set(found.values())
    return Matching(pairs, tuple(line for index, line in enumerate(cart) if index not in taken))


def is_product(wish: Wish, line: Line) -> bool:
    """Say whether a line is the wished product, or a substitute the customer agreed to."""
    nouns = (line.product, line.replaced_product)
    return any(noun is not None and same_name(wish.product, noun) for noun in nouns)


def broken_terms(wish: Wish, line: Line) -> tuple[str, ...]:
    """Return what is wrong with a line of the wished product, apart from its quantity."""
    terms: list[str] = []
    brand_agreed = line.approved_substitute_for is not None
    if wish.brand and not brand_agreed and not same_name(wish.brand, line.brand):
        terms.append(f"brand {line.brand} instead of {wish.brand}")
    terms += [f"not {label}" for label in wish.diet or () if label not in line.diet]
    if wish.max_price is not None and line.price > wish.max_price:
        terms.append(f"{line.price:.2f} is over the limit of {wish.max_price:.2f}")
    return tuple(terms)


def quantity_is_right(wish: Wish, line: Line) -> bool:
    """Say whether a line has the wished number of units; any number without a wish for one."""
    return wish.quantity is None or line.quantity == wish.quantity


def incomplete(matching: Matching) -> list[Misfit]:
    """Return the wishes without a line, and the lines that break their wish's terms."""
    misfits: list[Misfit] = []
    for wish, line in matching.pairs:
        if line is None:
            misfits.append(Misfit(f"{wish.product} is missing"))
        else:
            terms = broken_terms(wish, line)
            misfits += [Misfit(f"{wish.product}: {term}", line) for term in terms]
    return misfits


def wrong_quantities(matching: Matching) -> list[Misfit]:
    """Return the lines with another number of units than was wished for."""
    return [
        Misfit(f"{wish.product}: {line.quantity:g} instead of {wish.quantity:g}", line)
        for wish, line in matching.pairs
        if line and wish.quantity is not None and not quantity_is_right(wish, line)
    ]


def extras(matching: Matching) -> list[Misfit]:
    """Return the lines that answer no wish."""
    wished = [wish.product for wish, _ in matching.pairs]
    return [
        Misfit(f"{line.name} is in the cart again", line)
        if any(same_name(line.product, product) for product in wished)
        else Misfit(f"{line.name} was not asked for", line)
        for line in matching.left_over
    ]


def _cost(wish: Wish, line: Line) -> float:
    if not is_product(wish, line):
        return _NOT_THE_PRODUCT
    return 2.0 * len(broken_terms(wish, line)) + (not quantity_is_right(wish, line))
