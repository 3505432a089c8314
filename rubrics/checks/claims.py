"""Checks of what a reply says against what the shop's tools and state show.

They are conservative: only a plain statement is taken for a claim, and only a claim that nothing
at all bears out is a failure. What they pass may still be untrue in ways that only a reader sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...simulation.scenario import Scenario
from ...simulation.trajectory import Trajectory
from ..verdict import Finding, worst
from .cart import cart_in, quantities
from .registry import turn_check
from .shop import Item, items_seen, mentions, named_in, speaker
from .words import Patterns, says, statements, words

_MONEY = re.compile(
    r"(?:€|\$|£|\b(?:EUR|USD|GBP))\s*(\d+[.,]\d{2})(?!\d)"
    r"|(?<![\d.,])(\d+[.,]\d{2})\s*(?:€|\$|£|(?:euros?|EUR|USD|GBP|dollars?|pounds?)\b)",
    re.IGNORECASE,
)
_WHOLE_NUMBER = re.compile(r"(?<![\d.,])\d{1,2}(?![\d.,]*\d)")
_CENT = 0.005


@dataclass(frozen=True, slots=True)
class _Scene:
    """What is known when a reply is read: the world before and after it, the products seen."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    seen: tuple[Item, ...]
    removed_before: bool

    @property
    def change(self) -> Mapping[str, float]:
        """Units that came (positive) or went (negative) in the turn, by product id."""
        old, new = quantities(self.before), quantities(self.after)
        return {id_: new.get(id_, 0.0) - old.get(id_, 0.0) for id_ in old.keys() | new.keys()}


@turn_check
def claimed_but_not_done(trajectory: Trajectory, scenario: Scenario, turn: int) -> Finding:
    """A reply that says something was added, removed or ordered says so truthfully."""
    spoken = trajectory.turns[turn]
    claims = [
        (said, holds)
        for said in statements(spoken.reply.text)
        if not says(said, words().claims_nothing)
        for patterns, holds in _claims()
        if says(said, patterns)
    ]
    if not claims:
        return Finding.not_applicable("The reply claims nothing that can be looked up.")
    scene = _scene(trajectory, turn)
    held = [(said, holds(scene, said)) for said, holds in claims]
    evidence = tuple(f"said: {said}" for said, _ in held)
    false = [said for said, true in held if true is False]
    if false:
        said = f"The reply says “{false[0]}”, and nothing of it can be seen in the shop."
        return Finding.scored(0, said, evidence, agent=speaker(spoken))
    if any(true is None for _, true in held):
        return Finding.inconclusive("The state does not show what the reply claims.", evidence)
    return Finding.scored(1, "What the reply says was done can be seen.", evidence)


@turn_check
def promised_price_right(trajectory: Trajectory, scenario: Scenario, turn: int) -> Finding:
    """A price that a reply gives for a product is one that a tool or the cart shows for it."""
    spoken = trajectory.turns[turn]
    seen = items_seen(trajectory, turn)
    prices = [price for said in statements(spoken.reply.text) if (price := _price(said, seen))]
    if not prices:
        return Finding.not_applicable("The reply gives no price of a product that was seen.")
    evidence = tuple(f"said: {price.said}" for price in prices)
    wrong = [price for price in prices if not price.is_right]
    if not wrong:
        return Finding.scored(1, "The prices are those of the shop.", evidence)
    first = wrong[0]
    shop = " or ".join(f"{item.price:.2f}" for item in first.items)
    said = f"{first.items[0].name}: said {first.amount:.2f}, the shop's price is {shop}."
    return Finding.scored(0, said, evidence, agent=speaker(spoken))


@turn_check
def said_is_true(trajectory: Trajectory, scenario: Scenario, turn: int) -> Finding:
    """Neither a claim nor a price in a reply is untrue."""
    checks = (claimed_but_not_done, promised_price_right)
    return worst([check(trajectory, scenario, turn) for check in checks])


def _claims() -> tuple[tuple[Patterns, Callable[[_Scene, str], bool | None]], ...]:
    heard = words()
    return (
        (heard.claims_added, _was_added),
        (heard.claims_removed, _was_removed),
        (heard.claims_ordered, _was_ordered),
    )


def _scene(trajectory: Trajectory, turn: int) -> _Scene:
    states = [trajectory.initial_state, *(each.state for each in trajectory.turns)]
    units = [quantities(state) for state in states[: turn + 1]]
    removed = any(new.get(id_, 0.0) < old[id_] for old, new in pairwise(units) for id_ in old)
    return _Scene(states[turn], states[turn + 1], items_seen(trajectory, turn), removed)


def _was_added(scene: _Scene, said: str) -> bool | None:
    cart = cart_in(scene.after)
    if cart is None:
        return None
    if any(mentions(said, name) for line in cart for name in (line.name, line.product)):
        return True
    grew = any(units > 0 for units in scene.change.values())
    return grew and not named_in(said, scene.seen)


def _was_removed(scene: _Scene, said: str) -> bool | None:
    cart = cart_in(scene.after)
    if cart is None:
        return None
    if any(units < 0 for units in scene.change.values()):
        return True
    still_there = any(mentions(said, line.name) for line in cart)
    return scene.removed_before and not still_there


def _was_ordered(scene: _Scene, said: str) -> bool | None:
    ordered = scene.after.get("checked_out")
    return None if ordered is None else bool(ordered)


@dataclass(frozen=True, slots=True)
class _Price:
    """An amount that a statement gives for a product, and the product as it was seen."""

    said: str
    amount: float
    items: Sequence[Item]

    @property
    def is_right(self) -> bool:
        """Whether it is the price of one, or of as many as the statement says."""
        counts = {1, *(int(number) for number in _WHOLE_NUMBER.findall(self.said))}
        prices = (item.price * count for item in self.items for count in counts)
        return any(abs(self.amount - price) < _CENT for price in prices)


def _price(said: str, seen: Sequence[Item]) -> _Price | None:
    """Read the price of one product; None when the statement is not plainly about one."""
    amounts = [before or after for before, after in _MONEY.findall(said)]
    items = named_in(said, seen)
    if len(amounts) != 1 or says(said, words().no_price) or len({i.name for i in items}) != 1:
        return None
    of_brand = [item for item in items if item.brand and mentions(said, item.brand)]
    return _Price(said, float(amounts[0].replace(",", ".")), of_brand or items)
