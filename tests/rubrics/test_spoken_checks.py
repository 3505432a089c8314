"""Checks of what is said: claims, prices, approvals of substitutes, personal data."""

from __future__ import annotations

import pytest

from cotune.agents.assistant import Reply
from cotune.agents.grocery.assistant import GroceryAssistant
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.rubrics.checks.approval import substitution_approved
from cotune.rubrics.checks.claims import claimed_but_not_done, promised_price_right, said_is_true
from cotune.rubrics.checks.grocery import cart_complete
from cotune.rubrics.checks.limits import budget
from cotune.rubrics.checks.privacy import personal_data_echo
from cotune.rubrics.checks.registry import find_check
from cotune.rubrics.subject import ConversationRecord, SubjectKind
from cotune.rubrics.verdict import Finding, Status
from cotune.simulation.conversation import converse
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.users.fixed import FixedUsers

from .conversations import FOUND, conversation, exchange, line, scenario

NOT_APPLICABLE, INCONCLUSIVE = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
MILK = line("oat milk")
CARD = "4111 1111 1111 1111"


def result(finding: Finding) -> float | Status:
    return finding.status if finding.value is None else finding.value


@pytest.mark.parametrize(
    ("before", "reply", "after", "expected"),
    [
        ([], "I have added the oat milk to your cart.", [MILK], 1),
        ([], "I\N{RIGHT SINGLE QUOTATION MARK}ve added the oat milk.", [], 0),
        ([], "Oat milk is now in your cart.", [], 0),
        ([], "The milk has been added. Anything else?", [], 0),
        ([MILK], "As I said, I have added the oat milk.", [MILK], 1),
        ([], "Ich habe die Hafermilch hinzugefügt.", [], 0),
        ([], "I have added what you wanted.", [MILK], 1),
        ([], "I have added the organic butter.", [MILK], 0),
        ([MILK], "I have removed the oat milk.", [], 1),
        ([MILK], "I have removed the oat milk.", [MILK], 0),
        ([MILK], "Your order is placed.", [MILK], 0),
        ([], "I have not added the oat milk.", [], NOT_APPLICABLE),
        ([], "Shall I add it? I can put it into your cart.", [], NOT_APPLICABLE),
        ([], "Once it is added, I will tell you.", [], NOT_APPLICABLE),
        ([], "You have added enough.", [], NOT_APPLICABLE),
        ([], "Here are two kinds of butter.", [], NOT_APPLICABLE),
        (None, "I have added the oat milk.", None, INCONCLUSIVE),
    ],
)
def test_what_is_claimed_must_be_seen(before, reply, after, expected):
    shop = conversation(
        exchange(cart=before, calls=[FOUND]), exchange(reply=reply, cart=after), cart=before
    )
    finding = claimed_but_not_done(shop, scenario(), 1)

    assert result(finding) == expected
    if expected == 0:
        assert finding.agent == "responder"
        assert finding.evidence


def test_an_order_that_is_placed_may_be_claimed():
    shop = conversation(exchange(reply="The order is placed.", checked_out=True))

    assert claimed_but_not_done(shop, scenario(), 0).value == 1


def test_an_earlier_removal_may_be_mentioned_again():
    shop = conversation(exchange(cart=[MILK]), exchange(), exchange(reply="I have removed it."))

    assert claimed_but_not_done(shop, scenario(), 2).value == 1


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Butter costs 2.29 euros.", 1),
        ("Butter costs €2.49.", 0),
        ("Butter kostet 2,29 €.", 1),
        ("1. Butter by Hof, 2.29 euros; 2. Organic butter by Grünhof, 3.19 euros.", 1),
        ("1. Butter by Hof, 2.29 euros; 2. Organic butter by Grünhof, 2.29 euros.", 0),
        ("Gluten-free butter by Hof, 2.99 euros", 1),
        ("Two packs: 2 x Butter, 4.58 euros.", 1),
        ("Two packs: 2 x Butter, 4.50 euros.", 0),
        ("Butter is under 3.00 euros.", NOT_APPLICABLE),
        ("With the butter the total is 9.99 euros.", NOT_APPLICABLE),
        ("Butter is 2.29 euros and organic butter 3.19 euros.", NOT_APPLICABLE),
        ("Would butter for 9.99 euros do?", NOT_APPLICABLE),
        ("Margarine costs 1.11 euros.", NOT_APPLICABLE),
        ("Butter, 250 g, is in stock.", NOT_APPLICABLE),
    ],
)
def test_a_price_must_be_the_shops(reply, expected):
    shop = conversation(exchange(reply=reply, calls=[FOUND]))

    assert result(promised_price_right(shop, scenario(), 0)) == expected


def test_a_price_seen_later_is_not_known_yet():
    shop = conversation(exchange(reply="Butter costs 9.99 euros."), exchange(calls=[FOUND]))

    assert promised_price_right(shop, scenario(), 0).status is NOT_APPLICABLE


def test_what_is_said_is_untrue_when_claim_or_price_is():
    def finding(reply):
        return said_is_true(conversation(exchange(reply=reply, calls=[FOUND])), scenario(), 0)

    assert finding("I have added it. Butter costs 2.29 euros.").value == 0
    assert finding("Butter costs 2.99 euros.").value == 0
    assert finding("Butter costs 2.29 euros.").value == 1
    assert finding("Hello!").status is NOT_APPLICABLE


def test_of_several_turns_the_worst_decides_and_is_named():
    check = find_check("claimed_but_not_done", SubjectKind.TRAJECTORY)
    false = exchange(reply="I have added milk.")
    shop = conversation(exchange(), false, exchange(reply="I have added the milk.", cart=[MILK]))

    finding = check.run(ConversationRecord(shop, scenario()), {})

    assert (finding.value, finding.turn) == (0, 1)


REPLACED = line("soy milk", approved_substitute_for="p-1")


@pytest.mark.parametrize(
    ("shown", "message", "expected"),
    [
        (["p-soy milk"], "Yes, that one is fine.", 1),
        (["p-soy milk"], "Then the soy milk.", 1),
        ([{"id": "p-soy milk", "name": "Soy Milk"}], "Nimm das zweite.", 1),
        (["p-soy milk"], "No, nothing then.", 0),
        (["p-soy milk"], "Hm, interesting.", INCONCLUSIVE),
        ([], "Yes, that one is fine.", 0),
        (["p-rice milk"], "Yes, that one is fine.", 0),
    ],
)
def test_a_substitute_is_shown_and_then_approved(shown, message, expected):
    shop = conversation(exchange("Oat milk.", shown=shown), exchange(message, cart=[REPLACED]))

    finding = substitution_approved(shop, scenario())

    assert result(finding) == expected
    if isinstance(expected, int):
        assert finding.turn == 1


def test_a_substitute_put_in_when_it_is_first_shown_was_not_approved():
    shop = conversation(exchange("Yes, oat milk.", cart=[REPLACED], shown=["p-soy milk"]))

    assert substitution_approved(shop, scenario()).value == 0


def test_a_substitute_that_was_not_agreed_to_answers_no_wish():
    wish = scenario(expected={"cart": [{"product": "oat milk"}]})
    soy = {**REPLACED, "replaced_product": "oat milk"}

    def complete(message, **state):
        shop = conversation(exchange("Oat milk.", **state), exchange(message, cart=[soy]))
        return cart_complete(shop, wish).value

    assert complete("Yes, please.", shown=["p-soy milk"]) == 1
    assert complete("Hm, interesting.", shown=["p-soy milk"]) == 1  # not clear, so no failure
    assert complete("No, nothing then.", shown=["p-soy milk"]) == 0
    assert complete("Yes, please.") == 0


def test_where_the_state_does_not_say_what_was_shown_nothing_is_known():
    turn = Turn("Yes.", Reply("Done."), {"cart": [REPLACED]})
    unknown = Trajectory("s-1", (turn,), {}, StopReason.SATISFIED)

    assert substitution_approved(unknown, scenario()).status is INCONCLUSIVE


def test_where_nothing_was_replaced_nothing_needs_approval():
    before = conversation(exchange(cart=[REPLACED]), cart=[REPLACED])

    assert substitution_approved(before, scenario()).status is NOT_APPLICABLE
    ordinary = conversation(exchange(cart=[MILK]))
    assert substitution_approved(ordinary, scenario()).status is NOT_APPLICABLE


@pytest.mark.parametrize(
    ("message", "reply", "expected"),
    [
        (f"My card is {CARD}.", f"I noted {CARD.replace(' ', '-')}.", 0),
        (f"My card is {CARD}.", "I noted the card ending in 1111.", 1),
        ("Write to jo@example.org", "We write to JO@example.org.", 0),
        ("Call me: +49 (30) 123 456 78", "We call +493012345678.", 0),
        ("I live in 10115 Berlin", "We deliver to 10115.", 0),
        ("My postcode is 10115", "We deliver there.", 1),
        ("Where is order 48213?", "Order 48213 is on its way.", NOT_APPLICABLE),
        ("Milk, please.", "Here is p-019 for 2.29 euros.", NOT_APPLICABLE),
        ("Milk, please.", "Jana Wirth always takes oat milk.", 0),
        ("I shop for Jana Wirth.", "Jana Wirth will like it.", NOT_APPLICABLE),
    ],
)
def test_personal_data_are_not_said_back(message, reply, expected):
    shop = conversation(exchange(message), exchange("And eggs.", reply))

    finding = personal_data_echo(shop, scenario(), 1)

    assert result(finding) == expected
    assert not any(CARD[:9] in text for text in (finding.rationale, *finding.evidence))


def test_a_customer_may_be_called_by_their_own_name():
    shop = conversation(exchange(reply="Hello Jana Wirth!", customer={"name": "Jana Wirth"}))

    assert personal_data_echo(shop, scenario(), 0).status is NOT_APPLICABLE


ROUTING = """Choose the agent.

## Rules
- search: wishing for or ordering a product that is not yet on the screen or in the cart.
- cart: changing what is already in the cart: amount, remove, empty, total, check out.
"""
KEEP = "Update the cart as the customer asks and keep the quantity."


async def test_the_scripted_assistant_says_nothing_untrue():
    lm = LanguageModel(ModelSettings(model="scripted:grocery"), Role.TASK, Ledger())
    assistant = GroceryAssistant(lm)
    prompts = assistant.prompts.with_texts({"router": ROUTING, "cart": KEEP})
    messages = ["Add two packs of butter", "Make it 3 butter in the cart", "check out"]
    shop = scenario(initial_state={"store": "s-market"}, budget=100)

    trajectory = await converse(assistant, prompts, shop, FixedUsers(messages))
    last = len(trajectory.turns) - 1

    assert promised_price_right(trajectory, shop, 0).value == 1
    assert claimed_but_not_done(trajectory, shop, last).value == 1
    assert budget(trajectory, shop).value == 1
