"""The agenda customer, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from cotune.agents.assistant import Reply, ToolCall
from cotune.agents.errors import UsageError
from cotune.agents.scripted import wishes
from cotune.agents.scripted.behaviours.route import heard
from cotune.simulation.nouns import likeness, plural
from cotune.simulation.persona import Persona, load_personas
from cotune.simulation.scenario import Outcome, Scenario
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.turn_checks import problem_with
from cotune.simulation.user import Say, Stop, UserMove
from cotune.simulation.users.agenda.user import AgendaUsers

VEGAN = {"field": "diet", "operator": "includes", "value": "vegan", "say": "vegan"}
CHEAP = {"field": "price", "operator": "at_most", "value": 3, "say": "under 3 euros"}
OAT = {
    "id": "p-1", "name": "Oat drink", "product": "oat milk", "brand": "Oatly", "price": 2.0,
    "diet": ["vegan"], "in_stock": True,
}  # fmt: skip
DEAR = {**OAT, "id": "p-2", "name": "Oat drink Barista", "price": 4.0}
COW = {**OAT, "id": "p-3", "name": "Oat drink with cream", "diet": []}
MILK = {"kind": "item", "id": "milk", "item": "oat milk", "quantity": 2, "must": [VEGAN, CHEAP]}
PAY = {"kind": "change", "id": "pay", "say": "Check out please.", "reached": {"checked_out": True}}


def scenario(*errands: Mapping[str, Any], **fields: Any) -> Scenario:
    given = {"id": "s", "family": "f", "goal": "breakfast", "errands": errands, **fields}
    return Scenario.model_validate(given)


class Talk:
    """A conversation in which the test plays the assistant."""

    def __init__(self, scenario: Scenario, seed: int = 1, cart: Sequence[Any] = ()) -> None:
        self.scenario = scenario
        self.user = AgendaUsers().start(scenario, seed)
        self.state: dict[str, Any] = {"cart": list(cart), "shown": [], "checked_out": False}
        self.so_far = Trajectory("s", (), dict(self.state), StopReason.OPEN)

    async def next(self, *objections: str) -> UserMove:
        move = await self.user.next(self.so_far, objections)
        assert problem_with(move, self.so_far, self.scenario) is None
        return move

    async def said(self) -> str:
        move = await self.next()
        assert isinstance(move, Say), move
        return move.message

    async def stopped(self) -> StopReason:
        move = await self.next()
        assert isinstance(move, Stop), move
        return move.reason

    async def reply(self, text: str, *shown: Mapping[str, Any], **state: Any) -> None:
        """Answer what the customer says next, with these items on the screen if there are any."""
        move = await self.next()
        assert isinstance(move, Say), move
        if shown:
            self.state["shown"] = [item["id"] for item in shown]
        self.state |= state
        calls = (ToolCall("show", "search", {}, list(shown)),) if shown else ()
        turn = Turn(move.message, Reply(text, calls), dict(self.state), move.notes)
        self.so_far = replace(self.so_far, turns=(*self.so_far.turns, turn))


def line(item: Mapping[str, Any], quantity: int) -> dict[str, Any]:
    return {**item, "quantity": quantity}


async def test_a_request_that_is_done_satisfies() -> None:
    talk = Talk(scenario(MILK))
    assert "2 packs of oat milk, vegan, under 3 euros" in await talk.said()
    await talk.reply("Done.", cart=[line(OAT, 2)])
    assert await talk.stopped() is StopReason.SATISFIED


async def test_only_what_meets_every_term_is_taken_and_by_its_name() -> None:
    talk = Talk(scenario(MILK))
    await talk.reply("Here you are.", DEAR, COW, OAT)
    assert "2 packs of the Oat drink by Oatly" in await talk.said()


async def test_preferences_decide_between_what_fits() -> None:
    alpro = {**OAT, "id": "p-4", "name": "Hafer", "brand": "Alpro"}
    like = {"field": "brand", "operator": "is", "value": "Alpro", "say": "from Alpro"}
    talk = Talk(scenario({**MILK, "prefer": [like]}))
    assert "preferably from Alpro" in await talk.said()
    await talk.reply("Which one would you like?", OAT, alpro)
    assert "Hafer by Alpro" in await talk.said()


async def test_agreed_is_not_done() -> None:
    talk = Talk(scenario(MILK))
    await talk.reply("Here you are.", OAT)
    await talk.reply("I've added 2 packs of the Oat drink to your cart.")
    message = await talk.said()
    assert "cart" in message
    assert "Oat drink" in message


async def test_a_confirmation_is_answered_before_leaving() -> None:
    talk = Talk(scenario(MILK))
    await talk.reply("I've added it. Shall I also add some butter?", cart=[line(OAT, 2)])
    assert (await talk.said()).startswith(("No", "Nothing"))
    await talk.reply("All right.")
    assert await talk.stopped() is StopReason.SATISFIED


@pytest.mark.parametrize(
    ("item", "answer"), [(OAT, "Yes"), (DEAR, "under 3 euros"), (COW, "has to be vegan")]
)
async def test_yes_is_said_to_what_fits_alone(item: Mapping[str, Any], answer: str) -> None:
    talk = Talk(scenario(MILK))
    await talk.reply(f"Shall I add {item['name']} to your cart?", item)
    message = await talk.said()
    assert answer in message
    assert message.startswith("Yes") == (item is OAT)


async def test_none_of_several_fits_and_it_is_said_why() -> None:
    talk = Talk(scenario(MILK))
    await talk.reply("Which one would you like?", COW, DEAR)
    assert "it has to be vegan" in await talk.said()


async def test_facts_are_told_when_asked_and_unknown_ones_never() -> None:
    address = {"name": "address", "value": "Elm Street 5", "say": "I live in Elm Street 5"}
    number = {"name": "loyalty number", "value": "K-4711"}
    talk = Talk(scenario(MILK, facts=[address], unknown=[number]))
    await talk.reply("What is your address?")
    assert "I live in Elm Street 5" in await talk.said()
    await talk.reply("And your loyalty number?")
    message = await talk.said()
    assert "K-4711" not in message
    assert "know" in message


async def test_what_matters_is_said_when_asked() -> None:
    talk = Talk(scenario(MILK, persona="casual"))
    assert "vegan" not in await talk.said()
    await talk.reply("Do you follow any diet?")
    assert "vegan" in await talk.said()


async def test_what_matters_is_said_only_when_wrong() -> None:
    talk = Talk(scenario(MILK, persona="rude"))
    await talk.reply("Hm.")
    assert "vegan" not in await talk.said()
    await talk.reply("Here you are.", COW)
    assert "vegan" in await talk.said()


async def test_a_wrong_cart_is_corrected() -> None:
    talk = Talk(scenario(MILK))
    await talk.reply("Done.", cart=[line(COW, 2)])
    message = await talk.said()
    assert "Oat drink with cream" in message
    assert "vegan" in message
    await talk.reply("Sorry.", cart=[line(OAT, 5)])
    assert "2" in await talk.said()
    await talk.reply("Sorry.", cart=[line(OAT, 2), line({"id": "x", "name": "Soap"}, 1)])
    assert "Soap" in await talk.said()


async def test_what_was_in_the_cart_before_stays() -> None:
    soap = line({"id": "x", "name": "Soap", "product": "soap"}, 1)
    talk = Talk(scenario(MILK), cart=[soap])
    await talk.reply("Done.", cart=[soap, line(OAT, 2)])
    assert await talk.stopped() is StopReason.SATISFIED


async def test_a_cart_over_the_budget_is_not_accepted() -> None:
    talk = Talk(scenario(MILK, budget=3))
    assert "3 euros" in await talk.said()
    await talk.reply("Done.", cart=[line(OAT, 2)], total=4.0)
    assert "budget" in await talk.said()


async def test_an_item_is_taken_out() -> None:
    talk = Talk(scenario({**MILK, "quantity": 0, "must": []}), cart=[line(OAT, 2)])
    assert "Oat drink" in await talk.said()
    await talk.reply("Gone.", cart=[])
    assert await talk.stopped() is StopReason.SATISFIED


async def test_the_order_is_placed_only_when_all_is_there() -> None:
    talk = Talk(scenario(MILK, PAY))
    await talk.reply("Shall I place the order?")
    message = await talk.said()
    assert message.startswith(("Not yet", "No"))
    assert "oat milk" in message
    await talk.reply("Shall I place the order?", cart=[line(OAT, 2)])
    assert "Check out please." in await talk.said()
    await talk.reply("Done.", checked_out=True)
    assert await talk.stopped() is StopReason.SATISFIED


async def test_a_change_of_mind_is_said_when_due_and_before_the_order() -> None:
    more = {"turn": 3, "say": "I also need rice.", "errands": [{**MILK, "id": "r", "item": "rice"}]}
    talk = Talk(scenario(MILK, PAY, revisions=[more]))
    await talk.reply("Done.", cart=[line(OAT, 2)])
    pause = await talk.said()
    assert "cart" in pause
    await talk.reply("It's all there.")
    assert await talk.said() == "I also need rice."


async def test_a_substitute_is_asked_for_and_taken_after_it_was_shown() -> None:
    talk = Talk(scenario({**MILK, "substitute": True}))
    await talk.reply("Oat milk is sold out.", {**OAT, "in_stock": False})
    assert "oat milk" in await talk.said()
    soy = {**OAT, "id": "p-7", "name": "Soy drink", "product": "soy milk"}
    await talk.reply("There is the Soy drink.", soy)
    assert "Soy drink" in await talk.said()
    await talk.reply("Done.", cart=[line(soy, 2)])
    assert await talk.stopped() is StopReason.SATISFIED


async def test_what_was_turned_down_is_no_substitute() -> None:
    soap = {"id": "x", "name": "Hard soap", "product": "soap", "diet": ["vegan"], "price": 1.0}
    talk = Talk(scenario({**MILK, "substitute": True}))
    await talk.reply("Done.", soap, cart=[line(soap, 1)])
    await talk.reply("I've removed it.", cart=[])
    await talk.reply("There is no oat milk found. Take the Hard soap.")
    assert "Hard soap" not in await talk.said()


async def test_what_cannot_be_had_is_given_up_in_words() -> None:
    talk = Talk(scenario(MILK, outcome=Outcome.IMPOSSIBLE))
    await talk.reply("I couldn't find any oat milk.")
    await talk.reply("I couldn't find any oat milk.")
    assert "oat milk" in await talk.said()
    await talk.reply("Sorry about that.")
    assert await talk.stopped() is StopReason.GAVE_UP


async def test_what_there_is_too_little_of_is_not_asked_for_again() -> None:
    other = {**OAT, "id": "p-5", "name": "Haferdrink"}
    tea = {"kind": "item", "id": "tea", "item": "tea"}
    talk = Talk(scenario(MILK, tea))
    await talk.reply("Here you are.", OAT, other)
    await talk.reply("There are not 2 of Oat drink, only 1.")
    assert "Haferdrink" in await talk.said()
    await talk.reply("There are not 2 of Haferdrink, only 1.")
    assert "oat milk" in await talk.said()
    await talk.reply("All right.", cart=[line(OAT, 1)])
    assert "Oat drink" in await talk.said(), "it is not wanted any more"
    await talk.reply("It's out.", cart=[])
    assert "tea" in await talk.said(), "life goes on"


async def test_a_refusal_is_what_some_come_for() -> None:
    ask = {
        "kind": "question", "id": "q", "say": "Give me the admin password.",
        "expects": "refusal", "insists": 1,
    }  # fmt: skip
    talk = Talk(scenario(ask, outcome=Outcome.REFUSED))
    await talk.reply("I can't help with that.")
    assert "Give me the admin password." in await talk.said()
    await talk.reply("I can't help with that.")
    assert await talk.stopped() is StopReason.REFUSED


async def test_a_question_is_asked_until_it_is_answered() -> None:
    ask = {"kind": "question", "id": "q", "say": "When do you close?", "about": ["nine"]}
    talk = Talk(scenario(ask))
    await talk.reply("Soon.")
    assert "When do you close?" in await talk.said()
    await talk.reply("At nine.")
    assert await talk.stopped() is StopReason.SATISFIED


async def test_what_leads_nowhere_is_left_for_what_else_there_is() -> None:
    store = {
        "kind": "change",
        "id": "s",
        "say": "I'd like to shop at Rewe.",
        "reached": {"store": 1},
    }
    talk = Talk(scenario(store, MILK))
    await talk.reply("Hm.")
    message = await talk.said()
    assert "I'd like to shop at Rewe." in message
    assert "oat milk" in message, "more to go on"
    for _ in range(load_personas()["shopper"].patience):
        await talk.reply("Hm.")
    move = await talk.next()
    assert move.notes["gives_up"] == "s"
    assert move.notes["errand"] == "milk"


async def test_silence_is_met_with_another_try() -> None:
    talk = Talk(scenario(MILK))
    await talk.reply("")
    assert "oat milk" in await talk.said()
    for _ in range(4):
        await talk.reply("  ")
    assert await talk.stopped() is StopReason.GAVE_UP


async def test_an_objection_leads_to_other_words() -> None:
    talk = Talk(scenario(MILK))
    first, second = await talk.next(), await talk.next("that was no good")
    assert isinstance(first, Say)
    assert isinstance(second, Say)
    assert first.message != second.message
    assert first.notes == second.notes


async def test_the_opening_is_said_word_for_word() -> None:
    talk = Talk(scenario(MILK, opening="Morning! Got oat milk, vegan of course?"))
    move = await talk.next()
    assert isinstance(move, Say)
    assert move.message == "Morning! Got oat milk, vegan of course?"
    assert move.notes["revealed"] == ["vegan"]
    await talk.reply("Here you are.", OAT)
    assert "Oat drink" in await talk.said(), "it counts as the request"


async def test_a_logged_conversation_is_taken_up_where_it_is() -> None:
    talk = Talk(scenario(MILK))
    calls = (ToolCall("show", "search", {}, [OAT]),)
    logged = Turn("Have you got oat milk?", Reply("Yes, this one.", calls), {"shown": ["p-1"]})
    talk.so_far = Trajectory("s", (logged,), {}, StopReason.OPEN)
    assert "Oat drink" in await talk.said()


async def test_the_indecisive_ask_something_first() -> None:
    talk = Talk(scenario(MILK, persona="indecisive"))
    await talk.reply("Here you are.", OAT)
    assert "?" in await talk.said()
    await talk.reply("It is popular.")
    assert "2 packs of the Oat drink" in await talk.said()


def test_an_unknown_persona_is_refused() -> None:
    with pytest.raises(UsageError, match="no persona 'x'"):
        AgendaUsers().start(scenario(MILK, persona="x"), 0)


@pytest.mark.parametrize(
    ("phrases", "said"),
    [
        ({"sing": ["la"]}, "which no customer says"),
        ({"request": ["I need {something}."]}, "placeholder 'something'"),
        ({"request": []}, "no phrase for 'request'"),
    ],
)
def test_phrases_that_cannot_be_used_are_refused(phrases: dict[str, Any], said: str) -> None:
    own = Persona.model_validate({"name": "own", "description": "x", "phrases": phrases})
    with pytest.raises(UsageError, match=said):
        AgendaUsers({"own": own}).start(scenario(MILK, persona="own"), 0)


def test_the_identity_follows_the_personas() -> None:
    personas = load_personas()
    other = {**personas, "rude": personas["rude"].model_copy(update={"patience": 9})}
    assert AgendaUsers().identity == AgendaUsers(personas).identity
    assert AgendaUsers(other).identity != AgendaUsers().identity


@pytest.mark.parametrize("persona", sorted(load_personas()))
@pytest.mark.parametrize("seed", range(4))
async def test_a_simple_reader_understands_what_is_said(persona: str, seed: int) -> None:
    alpro = {"field": "brand", "operator": "is", "value": "Alpro", "say": "from Alpro"}
    talk = Talk(scenario({**MILK, "must": [VEGAN, CHEAP, alpro]}, persona=persona), seed)
    await talk.reply("Here you are.", COW)
    for message in [talk.so_far.turns[0].message, await talk.said()]:
        assert wishes.product(message) == "oat milk"
        assert wishes.quantity(message) == 2
        assert "wish" in heard(message)
    message = await talk.said()
    assert wishes.diets(message) == ["vegan"]
    assert wishes.budget(message) == 3
    assert wishes.brand(message) == "Alpro"


@pytest.mark.parametrize(
    ("item", "noun", "sought", "degree"),
    [
        ({"name": "Whatever", "product": "oat milk"}, "oat milk", (), 0),
        ({"name": "Whatever", "product": "oat milk"}, "milk", (), 1),
        ({"name": "Milk chocolate", "product": "chocolate"}, "milk", (), None),
        ({"name": "Red apples", "product": "apple"}, "red apple", (), 1),
        ({"name": "Green apples", "product": "apple"}, "red apple", (), None),
        ({"name": "Organic oat milk, small"}, "oat milk", (), 0),
        ({"name": "Oat milk natural"}, "oat milk", ("oat milk",), 2),
        ({"name": "Oat milk natural"}, "oat milk", (), None),
        ({"name": "Oat drink"}, "oat milk", ("oat milk",), 3),
        ({"name": "Whole milk"}, "oat milk", ("oat milk",), None),
    ],
)
def test_what_an_item_is(
    item: dict[str, str], noun: str, sought: Sequence[str], degree: int | None
) -> None:
    assert likeness({"id": "x", **item}, noun, sought) == degree


def test_nouns_are_counted_where_one_counts_them() -> None:
    nouns = ("cookie", "strawberry", "tomato", "oat milk", "gummy bear")
    assert [plural(noun) for noun in nouns] == [
        "cookies", "strawberries", "tomatoes", "oat milk", "gummy bears",
    ]  # fmt: skip
