"""What the customer wants by now, held against what they can see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .nouns import likeness
from .scenario import ChangeErrand, Errand, ItemErrand, Scenario
from .term import Term
from .view import Item, View

_NONE: frozenset[str] = frozenset()
_ORDER = re.compile(r"check|order|paid|placed|bought")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line of the cart that is not as it should be.

    Attributes:
        line: The line.
        quantity: How many there should be; 0 is none.
        reason: Why it has to go, such as a term it breaks; empty for a wrong quantity.
    """

    line: Item
    quantity: int
    reason: str = ""


@dataclass(frozen=True)
class Wants:
    """The scenario as it is by now, and the view it is judged by.

    Attributes:
        scenario: With the revisions that were said.
        view: What is to be seen.
        initial: What was in the cart at first: quantities by item id. It is nobody's business
            unless an errand is about it.
        stand_ins: Ids of the items that the customer took instead of what they wanted, by errand.
        saves: Whether the cheapest comes first.
        lacking: Ids of items of which there turned out to be too few.
    """

    scenario: Scenario
    view: View
    initial: Mapping[str, int]
    stand_ins: Mapping[str, frozenset[str]]
    saves: bool = False
    lacking: frozenset[str] = _NONE

    @cached_property
    def item_errands(self) -> tuple[ItemErrand, ...]:
        """The errands about items."""
        return tuple(each for each in self.scenario.errands if isinstance(each, ItemErrand))

    def must(self, errand: ItemErrand) -> tuple[Term, ...]:
        """Return every term that an errand's item has to meet."""
        return self.scenario.constraints + errand.must

    def would_like(self, errand: ItemErrand) -> tuple[Term, ...]:
        """Return every term that an errand's item should meet if it can be."""
        return self.scenario.preferences + errand.prefer

    def broken(self, errand: ItemErrand, item: Item) -> tuple[Term, ...]:
        """Return the terms that an item breaks; what it does not show is taken on trust."""
        return tuple(term for term in self.must(errand) if term.holds(item) is False)

    def is_done(self, errand: ItemErrand | ChangeErrand) -> bool:
        """Whether the state shows it."""
        if isinstance(errand, ChangeErrand):
            return all(self.view.state.get(name) == v for name, v in errand.reached.items())
        lines = self.lines_of(errand)
        right = not any(self.broken(errand, line) for line in lines)
        return right and sum(map(quantity_of, lines)) == errand.quantity

    def lines_of(self, errand: ItemErrand) -> list[Item]:
        """Return the cart's lines that an errand is about."""
        owned = ((line, self.errand_of(line)) for line in self.view.cart)
        return [line for line, owner in owned if owner is not None and owner.id == errand.id]

    def errand_of(self, line: Item) -> ItemErrand | None:
        """Return the errand that a line of the cart is for: the one that fits it best."""

        def misfit(errand: ItemErrand) -> tuple[int, ...] | None:
            agreed = line["id"] in self.stand_ins.get(errand.id, _NONE)
            degree = 0 if agreed else self._likeness(line, errand)
            broken = len(self.broken(errand, line))
            # What was there before and breaks a term is none of what the errand asks for.
            if degree is None or (broken and (self._found(line) or not errand.quantity)):
                return None
            return degree, broken, -len(errand.must), -errand.quantity

        fits = [(misfit(errand), errand) for errand in self.item_errands]
        found = [(degree, errand) for degree, errand in fits if degree is not None]
        return min(found, key=lambda pair: pair[0])[1] if found else None

    def suspects(self, errand: ItemErrand) -> list[Item]:
        """Return what is on the screen that is called what the customer wants, fit or not."""
        found = [(self._likeness(item, errand), item) for item in self.view.offers]
        degrees = [degree for degree, _ in found if degree is not None]
        # What may be one is left aside where something surely is one.
        return [item for degree, item in found if degrees and degree == min(degrees)] + [
            item for degree, item in found if degree == 1 and min(degrees) == 0
        ]

    def fitting(self, errand: ItemErrand) -> list[Item]:
        """Return what is on the screen that may be taken, best first."""
        return self._acceptable(errand, self.suspects(errand))

    def stand_ins_on_offer(self, errand: ItemErrand, reply: str) -> list[Item]:
        """Return what may be taken instead, best first: shown, and named in the reply."""
        named = [item for item in self.view.offers if str(item["name"]) in reply]
        return self._acceptable(errand, named) if errand.substitute else []

    def is_sold_out(self, item: Item) -> bool:
        """Whether an item is known to be out of stock, or there are too few of it."""
        sold_out = item.get("in_stock") is False or item.get("stock") == 0
        return sold_out or item["id"] in self.lacking

    def wrong(self) -> Wrong | None:
        """Return the first line of the cart that is not as it should be."""
        for line in self.view.cart:
            if wrong := self._wrong_line(line):
                return wrong
        for errand in self.item_errands:
            if errand.quantity and (wrong := self._wrong_amount(errand)):
                return wrong
        return self._too_dear()

    def _wrong_line(self, line: Item) -> Wrong | None:
        errand = self.errand_of(line)
        if self._found(line) or (errand is not None and not errand.quantity):
            return None
        if errand is None:
            before = self.initial.get(line["id"], 0)
            return Wrong(line, before, "" if before else "I didn't ask for it")
        broken = self.broken(errand, line)
        return Wrong(line, 0, f"it has to be {broken[0].say}") if broken else None

    def _wrong_amount(self, errand: ItemErrand) -> Wrong | None:
        lines = self.lines_of(errand)
        if all(map(self._found, lines)) or sum(map(quantity_of, lines)) == errand.quantity:
            return None
        best = min(lines, key=lambda line: abs(quantity_of(line) - errand.quantity))
        surplus = next((line for line in lines if line is not best), None)
        if surplus is not None:
            return Wrong(surplus, 0, "one kind is enough")
        return Wrong(best, errand.quantity)

    def _too_dear(self) -> Wrong | None:
        budget, total = self.scenario.budget, self.view.total
        if budget is None or total is None or total <= budget + 0.005:
            return None
        bought = [line for line in self.view.cart if not self._found(line)]
        dearest = max(bought, key=_cost, default=None)
        if dearest is None:
            return None
        return Wrong(dearest, 0, f"my budget is {budget:g} euros and that is too much")

    def _found(self, line: Item) -> bool:
        """Whether the line was there from the beginning."""
        return self.initial.get(line["id"]) == quantity_of(line)

    def _likeness(self, item: Item, errand: ItemErrand) -> int | None:
        return likeness(item, errand.item, self.view.sought.get(item["id"], _NONE))

    def _acceptable(self, errand: ItemErrand, items: list[Item]) -> list[Item]:
        able = [
            item
            for item in items
            if not self.is_sold_out(item)
            and not self.broken(errand, item)
            and self._is_affordable(item, errand.quantity)
        ]
        return sorted(able, key=lambda item: self._regret(errand, item))

    def _is_affordable(self, item: Item, quantity: int) -> bool:
        budget, price = self.scenario.budget, item.get("price")
        if budget is None or price is None:
            return True
        return (self.view.total or 0.0) + float(price) * quantity <= budget + 0.005

    def _regret(self, errand: ItemErrand, item: Item) -> tuple[float, ...]:
        missed = sum(term.holds(item) is False for term in self.would_like(errand))
        price = float(item.get("price") or 0.0)
        if self.scenario.budget is not None and len(self.item_errands) > 1:
            return price, missed  # what is spent here is lacking elsewhere
        return (missed, price) if self.saves else (missed,)


def is_order(errand: Errand) -> bool:
    """Whether an errand is the placing of the order, after which nothing can be changed."""
    return isinstance(errand, ChangeErrand) and any(map(_ORDER.search, errand.reached))


def quantity_of(line: Item) -> int:
    """Return how many of an item a line of the cart holds."""
    return int(line.get("quantity", 1))


def _cost(line: Mapping[str, Any]) -> float:
    return float(line.get("price") or 0.0) * quantity_of(line)
