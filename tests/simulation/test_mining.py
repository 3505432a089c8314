"""Scenarios proposed from conversations: masked, in families, and valid as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.assistant import Reply, ToolCall
from cotune.simulation.mining.by_model import answered, inputs_of
from cotune.simulation.mining.by_rules import proposed
from cotune.simulation.mining.masking import masked, masked_value
from cotune.simulation.mining.proposal import Proposal, with_families
from cotune.simulation.mining.proposal_file import write_proposals
from cotune.simulation.scenario import ChangeErrand, ItemErrand, QuestionErrand, Scenario
from cotune.simulation.scenario_file import load_scenarios
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

CARD = "4111 1111 1111 1111"


def turn(
    message: str,
    reply: str = "Done.",
    state: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Turn:
    """A turn; arguments are those of a call of `find_products`."""
    calls = (ToolCall("find_products", "search", arguments, []),) if arguments else ()
    return Turn(message, Reply(reply, calls), state or {})


def talk(*turns: Turn, stop: StopReason = StopReason.SATISFIED) -> Trajectory:
    return Trajectory("logged", turns, {"store": "north"}, stop)


def by_rules(*turns: Turn, **more: Any) -> Proposal:
    proposal = proposed(1, talk(*turns, **more))
    assert proposal is not None
    return proposal


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Write to jo.doe+x@mail.example.org please.", "jo.doe"),
        ("My card is 4111 1111 1111 1111.", "4111"),
        ("Call +49 170 1234567 or 0170-1234567.", "1234567"),
        ("It is 12 Old Mill Road, near the park.", "Mill"),
        ("Deliver to Hauptstraße 5a.", "Haupt"),
        ("J'habite rue de la Paix 10.", "Paix"),
        ("My zip is 80331.", "80331"),
        ("Ship it to 80331 Munich.", "80331"),
        ("IBAN DE89 3704 0044 0532 0130 00", "3704"),
        ("The number of my order is 123456789.", "456"),
        ("jo+4917012345678@mail.example", "jo+"),
    ],
)
def test_what_has_a_form_is_masked(text: str, hidden: str) -> None:
    assert hidden not in masked(text)
    assert "[" in masked(text)


@pytest.mark.parametrize(
    "text", ["2 litres of oat milk for 3.50, please", "500 g rye bread", "The 12 red ones, 100%"]
)
def test_what_is_no_personal_data_stays(text: str) -> None:
    assert masked(text) == text


@given(st.text())
def test_a_card_is_masked_whatever_stands_before_it(text: str) -> None:
    assert "1111" not in masked(f"{text} {CARD} a@b.cd")


def test_values_inside_of_values_are_masked() -> None:
    assert masked_value({"to": ["a@b.cd", 3], "n": None}) == {"to": ["[e-mail]", 3], "n": None}


def test_wishes_are_what_tools_were_called_with_and_customers_spoke_of() -> None:
    found = by_rules(
        turn("Two bottles of oat milk, at most 3 euros", query="milk", quantity=1),
        turn("Oat milk I said", query="oat milk", quantity=2, max_price=3, brand="Alpro"),
        turn("Thanks", query="internal-index-7"),
    ).scenario
    milk, oat_milk = found.errands
    assert isinstance(milk, ItemErrand)
    assert isinstance(oat_milk, ItemErrand)
    assert (oat_milk.item, oat_milk.quantity) == ("oat milk", 2)
    assert [(term.field, term.operator, term.value) for term in oat_milk.must] == [
        ("price", "at_most", 3),
        ("brand", "is", "Alpro"),
    ]
    assert found.opening == "Two bottles of oat milk, at most 3 euros"
    assert found.initial_state == {"store": "north"}


def test_answers_to_questions_are_facts_and_switches_are_changes() -> None:
    found = by_rules(
        turn(
            "Bread", "Gladly.\nDo you need it gluten free?", {"checked_out": False}, query="bread"
        ),
        turn("Yes, gluten free", "Which else?", {"checked_out": False}),
        turn("Check out please, mail me at a@b.cd", "Done.", {"checked_out": True}),
    )
    fact, _ = found.scenario.facts
    assert (fact.name, fact.value) == ("need gluten free", "Yes, gluten free")
    change = found.scenario.errands[-1]
    assert isinstance(change, ChangeErrand)
    assert change.reached == {"checked_out": True}
    assert change.say == "Check out please, mail me at [e-mail]"
    assert any("masked" in check for check in found.checks)


def test_without_tool_calls_the_first_message_is_a_question() -> None:
    found = by_rules(turn("Where is my parcel?"), stop=StopReason.GAVE_UP)
    (errand,) = found.scenario.errands
    assert isinstance(errand, QuestionErrand)
    assert errand.say == "Where is my parcel?"
    assert any("gave_up" in check for check in found.checks)


def test_nobody_who_says_nothing_comes() -> None:
    assert proposed(1, talk()) is None
    assert proposed(1, talk(turn("  "))) is None


def test_what_is_alike_is_one_family_and_names_differ() -> None:
    situations = ["oat milk", "Oat milk!", "rye bread", "rye bread with many more and other seeds"]
    placed = with_families(
        Proposal(n, by_rules(turn("x")).scenario, each) for n, each in enumerate(situations)
    )
    families = [each.scenario.family for each in placed]
    assert families[0] == families[1] == "oat-milk"
    assert families[2] == "rye-bread"
    assert families[3] == "rye-bread-with-many"


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    found = by_rules(turn("Füße: \u2028 'milk' # no comment\n- id: x", query="milk"))
    odd = Proposal(7, found.scenario, "milk", ("two\nlines", "a \x00 sign"))
    write_proposals(tmp_path / "s.yaml", with_families([odd]))
    (read,) = load_scenarios(tmp_path / "s.yaml")
    assert read == found.scenario.model_copy(update={"family": "milk"})
    text = (tmp_path / "s.yaml").read_text()
    assert text.startswith(
        "# from conversation 7\n# check: two lines\n# check: a  sign\n- id: mined"
    )


ANSWER = {
    "situation": "diet wish",
    "goal": "Get vegan milk.",
    "items": [
        {
            "item": "milk",
            "quantity": 2,
            "terms": [
                {"field": "diet", "operator": "includes", "value": "vegan", "say": "vegan"},
                {"field": "price", "operator": "at_most", "value": "3,5", "say": "under 3.50"},
            ],
        }
    ],
    "questions": ["When do you open? Tell a@b.cd"],
    "facts": [{"name": "diet", "value": "vegan"}],
    "unsure": ["Was it two?"],
}


def test_a_model_says_what_was_wanted() -> None:
    rules = by_rules(turn("Milk", query="milk"))
    found = answered(rules, ANSWER)
    milk, question = found.scenario.errands
    assert isinstance(milk, ItemErrand)
    assert [term.value for term in milk.must] == ["vegan", 3.5]
    assert isinstance(question, QuestionErrand)
    assert question.say == "When do you open? Tell [e-mail]"
    assert found.scenario.opening == "Milk"
    assert found.checks == ("Was it two?",)
    assert found.situation == "diet wish"


UNSAID = {"field": "f", "operator": "is", "value": "v", "say": " "}


@pytest.mark.parametrize(
    "change",
    [
        {"goal": " "},
        {"facts": [{"name": "", "value": "x"}]},
        {"items": [{"item": "m", "quantity": 1, "terms": [UNSAID]}]},
    ],
)
def test_an_answer_that_makes_no_scenario_leaves_the_rules(change: dict[str, Any]) -> None:
    rules = by_rules(turn("Milk", query="milk"))
    found = answered(rules, {**ANSWER, **change})
    assert found.scenario == rules.scenario
    assert "no usable answer" in found.checks[0]


def test_a_model_reads_no_personal_data() -> None:
    said = inputs_of(talk(turn(f"Card {CARD}", "Noted: a@b.cd", query="milk for a@b.cd")))
    assert "4111" not in str(said)
    assert "a@b.cd" not in str(said)
    assert "find_products" in str(said)


def test_a_scenario_is_valid_by_itself() -> None:
    found = by_rules(turn("Milk", query="milk")).scenario
    assert Scenario.model_validate(found.model_dump(mode="json")) == found
