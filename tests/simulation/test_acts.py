"""Reading what a reply does."""

from __future__ import annotations

import pytest

from cotune.agents.assistant import Reply
from cotune.simulation.acts import Act, pending_question, questions, read_acts
from cotune.simulation.trajectory import StopReason, Trajectory, Turn


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("", set()),
        ("  \n", set()),
        ("Hello! What can I get for you?", {Act.OFFER}),
        ("Yes.", {Act.INFORM}),
        ("Which size would you like?", {Act.ASK}),
        ("I've added the oat milk to your cart.", {Act.CLAIM, Act.INFORM}),
        ("Your order has been placed. Anything else?", {Act.CLAIM, Act.INFORM, Act.OFFER}),
        ("I have not added it yet.", {Act.INFORM}),
        ("Not put into the cart: it needs your approval.", {Act.INFORM}),
        ("I'm sorry, I can't help with that.", {Act.REFUSE, Act.INFORM}),
        ("I can only help with groceries.", {Act.REFUSE, Act.INFORM}),
        ("I can\u2019t share that.", {Act.REFUSE, Act.INFORM}),
        ("I couldn't find any rye bread.", {Act.NOT_FOUND, Act.INFORM}),
        ("Nothing was found for 'rye bread'.", {Act.NOT_FOUND, Act.INFORM}),
        ("The butter is sold out. Shall I look for another?", {Act.NOT_FOUND, Act.INFORM, Act.ASK}),
        ("No product was recognized in the request.", set()),
        ("Is it out of stock?", {Act.ASK}),
    ],
)
def test_what_a_reply_does(text: str, acts: set[Act]) -> None:
    assert read_acts(Reply(text)) == acts


def test_a_price_does_not_end_a_sentence() -> None:
    text = "It costs 2.49 euros. Shall I add it for 2.49 euros? Let me know if you need more help?"
    assert questions(text) == ("Shall I add it for 2.49 euros?",)


def test_the_last_open_question_is_pending() -> None:
    turns = tuple(Turn("hi", Reply(text), {}) for text in ("Why?", "Vegan? Or organic?"))
    so_far = Trajectory("s", turns, {}, StopReason.OPEN)
    assert pending_question(so_far) == "Or organic?"
    assert pending_question(Trajectory("s", (), {}, StopReason.OPEN)) == ""


def test_an_alternative_that_is_offered_waits_for_an_answer() -> None:
    assert questions("There is none. Would you like to try something else?")
    assert not questions("Done. Do you need something else?")
