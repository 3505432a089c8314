"""A customer, what they were shown, and what the checks say of their next turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cotune.agents.assistant import Reply, ToolCall
from cotune.simulation.scenario import Fact, ItemErrand, Scenario
from cotune.simulation.term import Term
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.turn_checks import problem_with
from cotune.simulation.user import Say, UserMove

VEGAN = Term(field="diet", operator="includes", value="vegan", say="vegan")
NO_NUTS = Term(field="contains", operator="excludes", value="nuts", say="without nuts")
CHEAP = Term(field="price", operator="at_most", value=2.5, say="under 2.50 euros")
SCENARIO = Scenario(
    id="s1",
    family="f",
    goal="Oat milk for the weekend, at Grünkern.",
    budget=20,
    facts=(Fact(name="street", value="Lindenweg 12", say="I live at Lindenweg 12."),),
    unknown=(
        Fact(name="customer number", value="4711-X"),
        Fact(name="people in the house", value="3", asked_by=("household",)),
    ),
    constraints=(VEGAN, NO_NUTS),
    errands=(ItemErrand(id="milk", item="oat milk", quantity=2, must=(CHEAP,)),),
)
OAT = {
    "id": "p1", "name": "Oat drink Natural", "brand": "Haferlust", "size": "1 l", "price": 1.88,
    "diet": ["vegan"], "product": "oat milk",
}  # fmt: skip
COW = {**OAT, "id": "p2", "name": "Whole milk", "brand": "Berghof", "diet": [], "price": 1.19}
DEAR = {**OAT, "id": "p3", "name": "Oat drink Barista", "price": 2.99}
SHOWN = [OAT, COW, DEAR]


def line(item: Mapping[str, Any], quantity: int) -> dict[str, Any]:
    return {**item, "quantity": quantity}


def conversation(
    *exchanges: tuple[str, str], cart: list[Any] | None = None, **state: Any
) -> Trajectory:
    """Exchanges in which the items were shown; the state is that after each of them."""
    calls = (ToolCall("find", "search", {"words": "oat milk"}, SHOWN),)
    world = {"cart": cart or [], "shown": ["p1", "p2", "p3"], **state}
    turns = tuple(Turn(said, Reply(reply, calls), world) for said, reply in exchanges)
    return Trajectory("s1", turns, {"cart": []}, StopReason.OPEN)


BEGIN = conversation()
SCREEN = "On the screen: Oat drink Natural by Haferlust, 1.88 euros; Whole milk; Oat drink Barista."
AFTER = conversation(("I need oat milk.", SCREEN))


def kind(
    move: UserMove | str, so_far: Trajectory = AFTER, scenario: Scenario = SCENARIO
) -> str | None:
    problem = problem_with(Say(move) if isinstance(move, str) else move, so_far, scenario)
    return problem.kind if problem else None
