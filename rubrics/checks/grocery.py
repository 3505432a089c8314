"""Checks of MAGIC's criteria on the grocery world: the final state against the scenario's.

They are exact, because the world is known: the final snapshot says what is in the cart and which
store was chosen. Where the scenario expects nothing, a check does not apply; where the snapshot
does not show what is needed, it is inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import BaseModel, ConfigDict

from ...simulation.scenario import Scenario
from ...simulation.trajectory import Trajectory
from ..verdict import Finding
from .cart import Line, Matching, Wish, broken_terms, final_cart, match, quantity_is_right
from .registry import trajectory_check
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


@trajectory_check
def cart_complete(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Every wished item is in the cart with the brand, diet and price asked for."""
    if not _expected(scenario).cart:
        return Finding.not_applicable("The scenario expects no item in the cart.")
    return _judge_cart(trajectory, scenario, _incomplete, "Every wished item is in the cart.")


@trajectory_check
def cart_quantities(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The wished items that are in the cart have the quantities asked for."""
    wishes = _expected(scenario).cart or ()
    cart = final_cart(trajectory) or ()
    present = [
        wish for wish, line in match(wishes, cart).pairs if line and wish.quantity is not None
    ]
    if "cart" in trajectory.final_state and not present:
        return Finding.not_applicable(
            "No item with a wished quantity is in the cart.", _evidence(cart)
        )
    return _judge_cart(trajectory, scenario, _wrong_quantities, "The quantities are as wished.")


@trajectory_check
def cart_no_extras(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The cart holds nothing beyond the wishes, and nothing twice."""
    return _judge_cart(trajectory, scenario, _extras, "Nothing is in the cart beyond the wishes.")


@trajectory_check
def cart_success(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The cart is what the customer wanted: complete, in the right quantities, nothing else."""

    def problems(matching: Matching) -> list[str]:
        return [*_incomplete(matching), *_wrong_quantities(matching), *_extras(matching)]

    return _judge_cart(trajectory, scenario, problems, "The cart is exactly what was wished for.")


@trajectory_check
def store_type_fit(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The chosen store is of the type that suits the errand."""
    return _judge_state(trajectory, "store_type", _expected(scenario).store_type)


@trajectory_check
def store_selection(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """The chosen store is the one the customer prefers, or that the errand justifies."""
    return _judge_state(trajectory, "store", _expected(scenario).store)


@trajectory_check
def dietary_preferences(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Every line of the cart carries the customer's dietary labels where they matter."""
    expected = _expected(scenario)
    cart = final_cart(trajectory)
    if not expected.diet:
        return Finding.not_applicable("The customer has no dietary preference.")
    if cart is None:
        return Finding.inconclusive("The final state shows no cart.")
    concerned = _lines_with_diet(expected, cart)
    if not concerned:
        return Finding.not_applicable("Nothing in the cart is a matter of diet.", _evidence(cart))
    problems = [
        f"{line.name} is not {label}"
        for line, labels in concerned
        for label in labels
        if label not in line.diet
    ]
    return _finding(problems, f"Everything is {', '.join(expected.diet)}.", cart)


@trajectory_check
def preferred_brands(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Products with a preferred brand are of that brand, or an agreed substitute."""
    brands = _expected(scenario).brands
    cart = final_cart(trajectory)
    if not brands:
        return Finding.not_applicable("The customer prefers no brand.")
    if cart is None:
        return Finding.inconclusive("The final state shows no cart.")
    wishes = [
        (line, Wish(product=product, brand=brand))
        for line in cart
        for product, brand in brands.items()
        if same_name(line.product, product)
    ]
    if not wishes:
        return Finding.not_applicable("No product with a preferred brand is in the cart.")
    problems = [f"{w.product}: {term}" for line, w in wishes for term in broken_terms(w, line)]
    return _finding(problems, "The preferred brands were chosen.", cart)


def _judge_cart(
    trajectory: Trajectory,
    scenario: Scenario,
    problems_of: Callable[[Matching], list[str]],
    praise: str,
) -> Finding:
    wishes = _expected(scenario).cart
    cart = final_cart(trajectory)
    if wishes is None:
        return Finding.not_applicable("The scenario does not say what belongs in the cart.")
    if cart is None:
        return Finding.inconclusive("The final state shows no cart.")
    return _finding(problems_of(match(wishes, cart)), praise, cart)


def _judge_state(trajectory: Trajectory, field: str, wanted: str | None) -> Finding:
    if wanted is None:
        return Finding.not_applicable(f"The scenario expects no particular {field}.")
    if field not in trajectory.final_state:
        return Finding.inconclusive(f"The final state does not show the {field}.")
    found = trajectory.final_state[field]
    rationale = f"{field}: expected {wanted}, found {found or 'none'}."
    return Finding.scored(found == wanted, rationale, (f"{field}={found}",))


def _incomplete(matching: Matching) -> list[str]:
    problems: list[str] = []
    for wish, line in matching.pairs:
        if line is None:
            problems.append(f"{wish.product} is missing")
        else:
            problems += [f"{wish.product}: {term}" for term in broken_terms(wish, line)]
    return problems


def _wrong_quantities(matching: Matching) -> list[str]:
    return [
        f"{wish.product}: {line.quantity:g} instead of {wish.quantity:g}"
        for wish, line in matching.pairs
        if line and wish.quantity is not None and not quantity_is_right(wish, line)
    ]


def _extras(matching: Matching) -> list[str]:
    wished = [wish.product for wish, _ in matching.pairs]
    return [
        f"{line.name} is in the cart again"
        if any(same_name(line.product, product) for product in wished)
        else f"{line.name} was not asked for"
        for line in matching.left_over
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


def _expected(scenario: Scenario) -> Expected:
    return Expected.model_validate(scenario.expected)


def _finding(problems: list[str], praise: str, cart: Iterable[Line]) -> Finding:
    rationale = f"{'; '.join(problems)}." if problems else praise
    return Finding.scored(not problems, rationale[0].upper() + rationale[1:], _evidence(cart))


def _evidence(cart: Iterable[Line]) -> tuple[str, ...]:
    return tuple(f"cart: {line}" for line in cart) or ("cart: empty",)
