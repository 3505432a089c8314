"""End states: where a grocery scenario should end, and which of several that are as good counts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ...simulation.scenario import Scenario
from ...simulation.trajectory import Trajectory
from .approval import agreed_cart
from .cart import (
    Line,
    Misfit,
    Wish,
    broken_terms,
    extras,
    incomplete,
    match,
    wrong_quantities,
)
from .text import same_name


class Expected(BaseModel):
    """The end state of a grocery scenario; what is left out is not judged.

    Attributes:
        cart: The whole final cart, item by item.
        store: Id of the store that should be chosen.
        store_type: Type the chosen store should have, such as `bakery`.
        diet: Labels that every line must carry, unless its wish has a diet of its own.
        brands: Preferred brand by product noun.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cart: tuple[Wish, ...] | None = None
    store: str | None = None
    store_type: str | None = None
    diet: tuple[str, ...] = ()
    brands: dict[str, str] = {}


def expected_end(trajectory: Trajectory, scenario: Scenario) -> Expected:
    """Return the end state to judge by: of those the scenario accepts, the nearest one.

    All checks judge by the same one, so that no conversation passes by the cart of one and the
    store of another.
    """
    accepted = (scenario.expected, *scenario.acceptable)
    states = [Expected.model_validate(state) for state in accepted]
    return min(states, key=lambda state: _distance(state, trajectory))


def diet_misfits(expected: Expected, cart: tuple[Line, ...]) -> list[Misfit] | None:
    """Return the lines without a label they must carry; None when no line need carry any."""
    concerned = _lines_with_diet(expected, cart)
    if not concerned:
        return None
    return [
        Misfit(f"{line.name} is not {label}", line)
        for line, labels in concerned
        for label in labels
        if label not in line.diet
    ]


def brand_misfits(expected: Expected, cart: tuple[Line, ...]) -> list[Misfit] | None:
    """Return the lines of another than the preferred brand; None when no line has one."""
    concerned = [
        (line, Wish(product=product, brand=brand))
        for line in cart
        for product, brand in expected.brands.items()
        if same_name(line.product, product)
    ]
    if not concerned:
        return None
    return [
        Misfit(f"{wish.product}: {term}", line)
        for line, wish in concerned
        for term in broken_terms(wish, line)
    ]


def _lines_with_diet(
    expected: Expected, cart: tuple[Line, ...]
) -> list[tuple[Line, tuple[str, ...]]]:
    """Return the lines whose diet matters, each with the labels it must carry."""
    matching = match(expected.cart or (), cart)
    labels = [
        (line, expected.diet if wish.diet is None else wish.diet)
        for wish, line in matching.pairs
        if line
    ]
    labels += [(line, expected.diet) for line in matching.left_over]
    return [(line, wanted) for line, wanted in labels if wanted]


def _distance(expected: Expected, trajectory: Trajectory) -> int:
    """Count in how many ways the conversation ended elsewhere."""
    state, cart = trajectory.final_state, agreed_cart(trajectory) or ()
    misfits = [*(diet_misfits(expected, cart) or ()), *(brand_misfits(expected, cart) or ())]
    if expected.cart is not None:
        matching = match(expected.cart, cart)
        misfits += [*incomplete(matching), *wrong_quantities(matching), *extras(matching)]
    wrong_store = expected.store not in (None, state.get("store"))
    wrong_type = expected.store_type not in (None, state.get("store_type"))
    return len(misfits) + wrong_store + wrong_type
