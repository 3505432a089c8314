"""Checks of what the cart may hold: budget, terms on items, no line twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...simulation.scenario import ItemErrand, Scenario
from ...simulation.term import Term
from ...simulation.trajectory import Trajectory
from ..verdict import Finding
from .cart import Line, Misfit, cart_in, final_cart
from .grocery import NO_CART, cart_evidence, cart_finding
from .registry import trajectory_check
from .text import normalise, same_name

_CENT = 0.005


@trajectory_check
def budget(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The cart costs no more than the customer can spend."""
    limit, cart = scenario.budget, final_cart(trajectory)
    if limit is None:
        return Finding.not_applicable("The customer has no budget.")
    if cart is None:
        return Finding.inconclusive(NO_CART)
    if not cart:
        return Finding.not_applicable("The cart is empty.")
    totals = [_total(turn.state) for turn in trajectory.turns] or [_total(trajectory.final_state)]
    within = [total <= limit + _CENT for total in totals]
    last_within = max((turn for turn, holds in enumerate(within) if holds), default=-1)
    return Finding.scored(
        within[-1],
        f"The cart costs {totals[-1]:.2f}, the budget is {limit:.2f}.",
        cart_evidence(cart),
        turn=None if within[-1] or not trajectory.turns else last_within + 1,
    )


@trajectory_check
def constraints(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Every line of the cart meets the customer's terms, as they are in the end."""
    final, raw = scenario.final, trajectory.final_state.get("cart")
    if raw is None:
        return Finding.inconclusive(NO_CART)
    lines = [(each, Line.model_validate(each)) for each in raw]
    terms = [(each, line, term) for each, line in lines for term in _terms(final, line)]
    if not terms:
        return Finding.not_applicable("No term of the customer's concerns what is in the cart.")
    held = [(line, term, term.holds(each)) for each, line, term in terms]
    broken = [(line, term) for line, term, holds in held if holds is False]
    misfits = [Misfit(f"{line.name} is not {term.say}", line) for line, term in broken]
    hidden = {term.field for _, term, holds in held if holds is None}
    cart = [line for _, line in lines]
    if hidden and not misfits:
        return Finding.inconclusive(
            f"The cart does not show: {', '.join(sorted(hidden))}.", cart_evidence(cart)
        )
    return cart_finding(trajectory, misfits, "Everything meets the customer's terms.", cart)


@trajectory_check
def duplicate_lines(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """No product is in the cart in two lines."""
    raw = trajectory.final_state.get("cart")
    if raw is None:
        return Finding.inconclusive(NO_CART)
    if not raw:
        return Finding.not_applicable("The cart is empty.")
    cart = [Line.model_validate(each) for each in raw]
    names = [_same_thing(each) for each in raw]
    misfits = [
        Misfit(f"{line.name} is in the cart again", line)
        for index, line in enumerate(cart)
        if names[index] in names[:index]
    ]
    return cart_finding(trajectory, misfits, "Each product has one line.", cart)


def _total(state: Mapping[str, Any]) -> float:
    total = state.get("total")
    if isinstance(total, int | float):
        return float(total)
    return sum(line.price * line.quantity for line in cart_in(state) or ())


def _terms(final: Scenario, line: Line) -> Sequence[Term]:
    """Return the terms that a line must meet; those of an item only when it is clear which."""
    nouns = [noun for noun in (line.product, line.replaced_product) if noun is not None]
    wished = [
        errand
        for errand in final.errands
        if isinstance(errand, ItemErrand) and any(same_name(errand.item, noun) for noun in nouns)
    ]
    return (*final.constraints, *(wished[0].must if len(wished) == 1 else ()))


def _same_thing(line: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(normalise(str(line.get(field, ""))) for field in ("name", "brand", "size"))
