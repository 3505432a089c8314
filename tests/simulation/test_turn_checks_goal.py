"""Quality checks against the customer's goal: nothing given up, and nobody leaves too early."""

from __future__ import annotations

import pytest

from cotune.agents.assistant import Reply
from cotune.simulation.scenario import ChangeErrand, ItemErrand, Revision
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.user import Say, Stop

from .customer_turns import AFTER, BEGIN, DEAR, OAT, SCENARIO, SCREEN, conversation, kind, line

# --- contradiction ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "Not vegan is fine too.",
        "It doesn't have to be vegan.",
        "I don't need it to be vegan.",
        "Vegan isn't important.",
        "Never mind vegan, just give me milk.",
        "I don't mind if it's not vegan.",
        "Nuts are fine.",
        "It may contain nuts.",
        "I'd like a bar with nuts.",
        "I'll take the Whole milk.",
        "Yes, add the Oat drink Barista.",
    ],
)
def test_what_is_never_given_up_is_not_given_up(message: str) -> None:
    assert kind(message) == "contradiction"


@pytest.mark.parametrize(
    "message",
    [
        "The Whole milk is not vegan!",
        "Not vegan is not fine.",
        "It has to be vegan.",
        "No nuts, please, I want it without nuts.",
        "I don't want the Whole milk.",
        "Please take the Whole milk out of my cart.",
        "I'd like something vegan instead of the Whole milk.",
        "Does the Oat drink Barista contain nuts?",
        "I'll take the Oat drink Natural, that's fine.",
        "Is there one that is cheaper than the Oat drink Barista?",
    ],
)
def test_a_customer_may_speak_of_what_they_cannot_take(message: str) -> None:
    assert kind(message) is None


def test_yes_to_what_breaks_a_term_is_taking_it() -> None:
    offered = conversation(("Milk please, vegan.", "Shall I add the Whole milk?"))
    assert kind("Yes, please.", offered) == "contradiction"
    assert kind("Is it vegan?", offered) is None
    removed = conversation(("Not that.", "Shall I remove the Whole milk?"))
    assert kind("Yes, please.", removed) is None


def test_a_noun_that_is_an_items_name_may_mean_any_item() -> None:
    milk = ItemErrand(id="milk", item="whole milk")
    scenario = SCENARIO.model_copy(update={"errands": (milk,)})
    assert kind("I'd like whole milk.", AFTER, scenario) is None


def test_a_condition_said_with_the_name_is_kept_up() -> None:
    assert kind("I'll take the Oat drink Barista if it is under 2.50 euros.") is None


def test_a_term_binds_until_the_change_of_mind_is_said_and_not_longer() -> None:
    dropped = Revision(
        turn=2,
        say="The price doesn't matter after all: not under 2.50 euros is fine.",
        errands=(ItemErrand(id="milk", item="oat milk", quantity=2),),
    )
    scenario = SCENARIO.model_copy(update={"revisions": (dropped,)})
    assert kind("I'll take the Oat drink Barista.", AFTER, scenario) == "contradiction"
    assert kind(dropped.say, AFTER, scenario) is None
    told = conversation(("I need oat milk.", SCREEN), (dropped.say, "Fine."))
    assert kind("I'll take the Oat drink Barista.", told, scenario) is None
    noted = Say("Take the dear one, not under 2.50 euros is fine.", {"revision": "price"})
    assert kind(noted, AFTER, scenario) is None


# --- premature_stop ---------------------------------------------------------------------------


def test_nobody_leaves_unheard() -> None:
    for reason in (StopReason.GAVE_UP, StopReason.SATISFIED, StopReason.SCRIPT_ENDED):
        assert kind(Stop(reason), BEGIN) == "premature_stop"


@pytest.mark.parametrize(
    "reason",
    [StopReason.SATISFIED, StopReason.GAVE_UP, StopReason.REFUSED, StopReason.OUT_OF_SCOPE],
)
def test_nobody_leaves_a_question_open(reason: StopReason) -> None:
    done = [line(OAT, 2)]
    asked = conversation(("Two oat milks.", "Is the one by Haferlust fine?"), cart=done)
    assert kind(Stop(reason), asked) == "premature_stop"
    offered = conversation(("Two oat milks.", "Added. Anything else?"), cart=done)
    assert kind(Stop(reason), offered) is None


def test_agreed_is_not_done() -> None:
    satisfied = Stop(StopReason.SATISFIED)
    promised = ("Two oat milks.", "I have added 2 Oat drink Natural to your cart.")
    assert kind(satisfied, conversation(promised)) == "premature_stop"
    assert kind(satisfied, conversation(promised, cart=[line(OAT, 1)])) == "premature_stop"
    assert kind(satisfied, conversation(promised, cart=[line(DEAR, 2)])) == "premature_stop"
    assert kind(satisfied, conversation(promised, cart=[line(OAT, 2)])) is None
    assert kind(Stop(StopReason.GAVE_UP), conversation(promised)) is None


def test_a_world_without_a_cart_does_not_say_what_is_done() -> None:
    told = Trajectory("s1", (Turn("Hi", Reply("Added."), {}),), {}, StopReason.OPEN)
    assert kind(Stop(StopReason.SATISFIED), told) is None


def test_a_change_is_done_when_the_state_shows_it() -> None:
    order = ChangeErrand(id="order", say="Place the order.", reached={"checked_out": True})
    scenario = SCENARIO.model_copy(update={"errands": (order,)})
    said = ("Place the order.", "Your order has been placed.")
    satisfied = Stop(StopReason.SATISFIED)
    assert kind(satisfied, conversation(said, checked_out=False), scenario) == "premature_stop"
    assert kind(satisfied, conversation(said, checked_out=True), scenario) is None


def test_what_was_said_to_change_must_be_done_too() -> None:
    more = Revision(
        turn=2, say="Make it three.", errands=(ItemErrand(id="milk", item="oat milk", quantity=3),)
    )
    scenario = SCENARIO.model_copy(update={"revisions": (more,)})
    before, after = ("Two oat milks.", "Done."), ("Make it three.", "Done.")
    satisfied = Stop(StopReason.SATISFIED)
    assert kind(satisfied, conversation(before, cart=[line(OAT, 2)]), scenario) is None
    two = conversation(before, after, cart=[line(OAT, 2)])
    assert kind(satisfied, two, scenario) == "premature_stop"
    assert kind(satisfied, conversation(before, after, cart=[line(OAT, 3)]), scenario) is None


def test_what_was_given_up_is_not_missed_and_a_stand_in_counts() -> None:
    said = Turn("Then not.", Reply("Sorry."), {"cart": []}, {"gives_up": "milk"})
    without = Trajectory("s1", (said,), {"cart": []}, StopReason.OPEN)
    assert kind(Stop(StopReason.SATISFIED), without) is None
    open_to_others = ItemErrand(id="milk", item="rice milk", quantity=2, substitute=True)
    scenario = SCENARIO.model_copy(update={"errands": (open_to_others,)})
    instead = conversation(("Then oat.", "Done."), cart=[line(OAT, 2)])
    assert kind(Stop(StopReason.SATISFIED), instead, scenario) is None


@pytest.mark.parametrize("reason", [StopReason.OPEN, StopReason.FAULT, StopReason.TURN_LIMIT])
def test_a_customer_leaves_for_a_reason_of_their_own(reason: StopReason) -> None:
    assert kind(Stop(reason)) == "premature_stop"
