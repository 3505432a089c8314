"""Open errands: what a customer came for and cannot see done.

An assistant that agrees, or says that it did something, has not done it; the world's state shows
what is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .scenario import ChangeErrand, ItemErrand, Scenario
from .trajectory import Trajectory
from .user import Say
from .view import View
from .wants import Wants, quantity_of


def scenario_by_now(scenario: Scenario, so_far: Trajectory, saying: Say | None = None) -> Scenario:
    """Return the scenario with the changes of mind that the customer has come out with.

    Those are the first few, as many as turns have `revision` among their notes, and those said
    word for word.

    Args:
        scenario: With all changes to come.
        so_far: The conversation.
        saying: What the customer is about to say.
    """
    if not scenario.revisions:
        return scenario
    messages = [turn.message for turn in so_far.turns]
    noted = revisions_noted(so_far)
    if saying is not None:
        messages.append(saying.message)
        noted += bool(saying.notes.get("revision"))
    said = " | ".join(map(_plain, messages))
    return scenario.revised(
        revision
        for index, revision in enumerate(scenario.revisions)
        if index < noted or _plain(revision.say) in said
    )


def revisions_noted(so_far: Trajectory) -> int:
    """Return how many changes of mind the customer noted, one a turn at most."""
    return sum(bool(turn.notes.get("revision")) for turn in so_far.turns)


def open_errands(scenario: Scenario, so_far: Trajectory) -> tuple[str, ...]:
    """Return, in words, what the customer cannot see done, less what they gave up.

    Args:
        scenario: As it is by now.
        so_far: The conversation. Turns in which the customer gives an errand up have its id
            among their notes, as `gives_up`. A world that does not show a cart, or a field that
            is to change, says nothing about them, and then they are not said to be open.
    """
    given_up = {turn.notes.get("gives_up") for turn in so_far.turns}
    wants = _wants(scenario, so_far)
    return tuple(
        words
        for errand in scenario.errands
        if errand.id not in given_up
        for words in _undone(errand, wants)
    )


def _undone(errand: object, wants: Wants) -> Iterator[str]:
    state = wants.view.state
    match errand:
        case ItemErrand() if "cart" in state and not wants.is_done(errand):
            words = ", ".join([errand.item, *(term.say for term in wants.must(errand))])
            count = sum(map(quantity_of, wants.lines_of(errand)))
            yield f"there should be {errand.quantity} of '{words}' in the cart, not {count} of any"
        case ChangeErrand() if errand.reached.keys() <= state.keys() and not wants.is_done(errand):
            yield f"'{errand.say}' has not happened"


def _wants(scenario: Scenario, so_far: Trajectory) -> Wants:
    """Return what is wanted; what is in the cart for no other errand may stand in for an item."""
    view = View.of(so_far)
    before = View.at_start(so_far.initial_state).cart
    initial = {line["id"]: quantity_of(line) for line in before}
    wants = Wants(scenario, view, initial, {})
    others = {line["id"] for line in view.cart if wants.errand_of(line) is None}
    instead = frozenset(others - initial.keys())
    stand_ins = {each.id: instead for each in wants.item_errands if each.substitute}
    return Wants(scenario, view, initial, stand_ins)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
