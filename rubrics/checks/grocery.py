"""Checks of MAGIC's criteria on the grocery world: the final state against the scenario's.

They are exact, because the world is known: the final snapshot says what is in the cart and which
store was chosen. A substitute counts only when the customer agreed to it. Where the scenario
expects nothing, a check does not apply; where the snapshot does not show what is needed, it is
inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...simulation.scenario import Scenario
from ...simulation.trajectory import Trajectory
from ..verdict import Finding
from .approval import agreed_cart
from .cart import (
    Line,
    Matching,
    Misfit,
    extras,
    incomplete,
    last_change,
    match,
    wrong_quantities,
)
from .end_state import brand_misfits, diet_misfits, expected_end
from .registry import trajectory_check

NO_CART = "The final state shows no cart."


@trajectory_check
def cart_complete(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Every wished item is in the cart with the brand, diet and price asked for."""
    if not expected_end(trajectory, scenario).cart:
        return Finding.not_applicable("The scenario expects no item in the cart.")
    return _judge_cart(trajectory, scenario, incomplete, "Every wished item is in the cart.")


@trajectory_check
def cart_quantities(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The wished items that are in the cart have the quantities asked for."""
    wishes = expected_end(trajectory, scenario).cart or ()
    cart = agreed_cart(trajectory) or ()
    present = [
        wish for wish, line in match(wishes, cart).pairs if line and wish.quantity is not None
    ]
    if "cart" in trajectory.final_state and not present:
        return Finding.not_applicable(
            "No item with a wished quantity is in the cart.", cart_evidence(cart)
        )
    return _judge_cart(trajectory, scenario, wrong_quantities, "The quantities are as wished.")


@trajectory_check
def cart_no_extras(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The cart holds nothing beyond the wishes, and nothing twice."""
    return _judge_cart(trajectory, scenario, extras, "Nothing is in the cart beyond the wishes.")


@trajectory_check
def cart_success(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The cart is what the customer wanted: complete, in the right quantities, nothing else."""

    def misfits(matching: Matching) -> list[Misfit]:
        return [*incomplete(matching), *wrong_quantities(matching), *extras(matching)]

    return _judge_cart(trajectory, scenario, misfits, "The cart is exactly what was wished for.")


@trajectory_check
def store_type_fit(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The chosen store is of the type that suits the errand."""
    return _judge_state(trajectory, "store_type", expected_end(trajectory, scenario).store_type)


@trajectory_check
def store_selection(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The chosen store is the one the customer prefers, or that the errand justifies."""
    return _judge_state(trajectory, "store", expected_end(trajectory, scenario).store)


@trajectory_check
def dietary_preferences(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Every line of the cart carries the customer's dietary labels where they matter."""
    expected = expected_end(trajectory, scenario)
    cart = agreed_cart(trajectory)
    if not expected.diet:
        return Finding.not_applicable("The customer has no dietary preference.")
    if cart is None:
        return Finding.inconclusive(NO_CART)
    misfits = diet_misfits(expected, cart)
    if misfits is None:
        return Finding.not_applicable("Nothing in the cart is a matter of diet.")
    return cart_finding(trajectory, misfits, f"Everything is {', '.join(expected.diet)}.", cart)


@trajectory_check
def preferred_brands(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Products with a preferred brand are of that brand, or an agreed substitute."""
    expected = expected_end(trajectory, scenario)
    cart = agreed_cart(trajectory)
    if not expected.brands:
        return Finding.not_applicable("The customer prefers no brand.")
    if cart is None:
        return Finding.inconclusive(NO_CART)
    misfits = brand_misfits(expected, cart)
    if misfits is None:
        return Finding.not_applicable("No product with a preferred brand is in the cart.")
    return cart_finding(trajectory, misfits, "The preferred brands were chosen.", cart)


def cart_finding(
    trajectory: Trajectory, misfits: Sequence[Misfit], praise: str, cart: Iterable[Line]
) -> Finding:
    """Pass a cart without misfits, else name them all and the turn of the first that has one."""
    evidence = cart_evidence(cart)
    if not misfits:
        return Finding.scored(1, praise, evidence)
    said = "; ".join(misfit.said for misfit in misfits)
    turns = [last_change(trajectory, each.line.product_id) for each in misfits if each.line]
    turn = next((turn for turn in turns if turn is not None), None)
    return Finding.scored(0, f"{said[0].upper()}{said[1:]}.", evidence, turn=turn)


def cart_evidence(cart: Iterable[Line]) -> tuple[str, ...]:
    """Quote a cart line by line."""
    return tuple(f"cart: {line}" for line in cart) or ("cart: empty",)


def _judge_cart(
    trajectory: Trajectory,
    scenario: Scenario,
    misfits_of: Callable[[Matching], list[Misfit]],
    praise: str,
) -> Finding:
    wishes = expected_end(trajectory, scenario).cart
    cart = agreed_cart(trajectory)
    if wishes is None:
        return Finding.not_applicable("The scenario does not say what belongs in the cart.")
    if cart is None:
        return Finding.inconclusive(NO_CART)
    return cart_finding(trajectory, misfits_of(match(wishes, cart)), praise, cart)


def _judge_state(trajectory: Trajectory, field: str, wanted: str | None) -> Finding:
    if wanted is None:
        return Finding.not_applicable(f"The scenario expects no particular {field}.")
    if field not in trajectory.final_state:
        return Finding.inconclusive(f"The final state does not show the {field}.")
    found = trajectory.final_state[field]
    rationale = f"{field}: expected {wanted}, found {found or 'none'}."
    return Finding.scored(found == wanted, rationale, (f"{field}={found}",))
