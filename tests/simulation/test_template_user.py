"""Template customers say all they want in one message, and leave."""

from __future__ import annotations

import pytest

from cotune.agents.errors import UsageError
from cotune.simulation.conversation import converse
from cotune.simulation.scenario import ItemErrand, QuestionErrand, Revision, Scenario
from cotune.simulation.scenario_file import load_scenarios
from cotune.simulation.term import Term
from cotune.simulation.trajectory import StopReason
from cotune.simulation.users.template import TemplateUsers

from .shop import PROMPTS, Shop, Step

VEGAN = Term(field="diet", operator="includes", value="vegan", say="vegan")
ALPRO = Term(field="brand", operator="is", value="Alpro", say="from Alpro")
SCENARIO = Scenario(
    id="s1",
    family="f",
    goal="breakfast",
    opening="Good morning!",
    constraints=(VEGAN,),
    errands=(
        ItemErrand(id="milk", item="oat milk", quantity=2, must=(ALPRO,)),
        ItemErrand(id="butter", item="butter", quantity=0),
        ItemErrand(id="bread", item="rye bread"),
    ),
)


async def message(scenario: Scenario, seed: int = 0) -> str:
    shop = Shop([Step("Shall I add them?")])
    trajectory = await converse(shop, PROMPTS, scenario, TemplateUsers(), seed)
    assert trajectory.stop is StopReason.SCRIPT_ENDED
    (turn,) = trajectory.turns
    return turn.message


async def test_one_message_has_every_item_and_its_terms() -> None:
    said = await message(SCENARIO)
    assert said.endswith(
        " 2 oat milk, vegan, from Alpro and rye bread, vegan. Please take the butter out."
    )
    assert said.startswith(("I would like", "I am looking for"))


async def test_the_words_depend_on_the_seed_alone() -> None:
    said = [await message(SCENARIO, seed) for seed in range(10)]
    assert said == [await message(SCENARIO, seed) for seed in range(10)]
    assert len(set(said)) == 2


async def test_it_asks_for_what_is_wanted_in_the_end() -> None:
    more = Revision(turn=2, say="More.", errands=(ItemErrand(id="bread", item="toast"),))
    assert "toast" in await message(SCENARIO.model_copy(update={"revisions": (more,)}))


async def test_what_is_not_an_item_is_said_in_the_scenarios_words() -> None:
    errands = (QuestionErrand(id="ask", say="Do you deliver?"), SCENARIO.errands[1])
    said = await message(SCENARIO.model_copy(update={"errands": errands}))
    assert said == "Do you deliver? Please take the butter out."


def test_a_scenario_without_an_errand_cannot_be_played() -> None:
    with pytest.raises(UsageError, match=r"nothing to say without an errand"):
        TemplateUsers().start(SCENARIO.model_copy(update={"errands": ()}), 0)


async def test_every_scenario_that_comes_with_cotune_can_be_played() -> None:
    for scenario in load_scenarios("grocery"):
        assert await message(scenario)
