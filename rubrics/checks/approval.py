"""Substitutes: shown first, approved by the customer, only then in the cart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...simulation.scenario import Scenario
from ...simulation.trajectory import Trajectory
from ..verdict import Finding, worst
from .cart import Line, cart_in, final_cart
from .registry import trajectory_check
from .shop import mentions
from .words import says, words


@dataclass(frozen=True, slots=True)
class _Substitute:
    """A line marked as an approved substitute, and the turn in which the mark came."""

    line: Line
    turn: int


@trajectory_check
def substitution_approved(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """What stands in for something else was shown, and the customer then said yes to it."""
    findings = [_judge(trajectory, each) for each in _substitutes(trajectory)]
    if not findings:
        return Finding.not_applicable("Nothing was put into the cart as a substitute.")
    return worst(findings)


def agreed_cart(trajectory: Trajectory) -> tuple[Line, ...] | None:
    """Return the cart at the end, in which a substitute counts only if it was agreed to.

    One that was not shown before, or was turned down, loses its mark and is just another product;
    None when the state shows no cart.
    """
    cart = final_cart(trajectory)
    refused = {
        each.line.product_id
        for each in _substitutes(trajectory)
        if _judge(trajectory, each).value == 0.0
    }
    unmarked = {"approved_substitute_for": None, "replaced_product": None}
    return cart and tuple(
        line.model_copy(update=unmarked) if line.product_id in refused else line for line in cart
    )


def _judge(trajectory: Trajectory, substitute: _Substitute) -> Finding:
    line, turn = substitute.line, substitute.turn
    states = [trajectory.initial_state, *(past.state for past in trajectory.turns[:turn])]
    if not any("shown" in state for state in states):
        return Finding.inconclusive("The state does not say what was shown.", (f"cart: {line}",))
    shown = [before for before, state in enumerate(states) if line.product_id in _shown(state)]
    if not shown:
        said = f"{line.name} was put into the cart before the customer had seen it."
        return Finding.scored(0, said, (f"cart: {line}",), turn=turn)
    replies = [past.message for past in trajectory.turns[shown[0] : turn + 1]]
    evidence = (f"cart: {line}", *(f"customer: {reply}" for reply in replies))
    approved = [_approves(reply, line) for reply in replies]
    if True in approved:
        return Finding.scored(1, f"The customer agreed to {line.name}.", evidence, turn=turn)
    if False in approved:
        said = f"{line.name} was put into the cart although the customer did not want it."
        return Finding.scored(0, said, evidence, turn=turn)
    return Finding.inconclusive(f"It is not clear whether {line.name} was agreed to.", evidence)


def _approves(message: str, line: Line) -> bool | None:
    """Say whether a message agrees to a product or turns it down; None when it may be either."""
    named = any(mentions(message, name) for name in (line.name, line.brand, line.product))
    refuses = says(message, words().refuses)
    if says(message, words().approves) or (named and not refuses):
        return True
    return False if refuses and not named else None


def _substitutes(trajectory: Trajectory) -> Iterator[_Substitute]:
    states = [trajectory.initial_state, *(turn.state for turn in trajectory.turns)]
    for turn, (before, after) in enumerate(pairwise(states)):
        marked = {line.product_id for line in _marked(before)}
        for line in _marked(after):
            if line.product_id not in marked:
                yield _Substitute(line, turn)


def _marked(state: Mapping[str, Any]) -> list[Line]:
    return [line for line in cart_in(state) or () if line.approved_substitute_for is not None]


def _shown(state: Mapping[str, Any]) -> set[str]:
    """Return the ids on the customer's screen, which a state may give as ids or as items."""
    shown = state.get("shown") or ()
    return {str(each["id"]) if isinstance(each, Mapping) else str(each) for each in shown}
