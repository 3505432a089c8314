"""When an assistant's turn counts as the same as the logged one."""

from __future__ import annotations

from typing import Any

import pytest

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.simulation.equivalence import Comparison, SameActsAndCalls
from cotune.simulation.trajectory import Turn


def call(tool: str, error: str = "", **arguments: Any) -> ToolCall:
    return ToolCall(tool, "clerk", arguments, None, error)


def turn(text: str, *calls: AgentCall | ToolCall, **state: Any) -> Turn:
    return Turn("Milk, please.", Reply(text, calls), state)


FIND = call("find", words="oat milk", diet=["vegan"], limit=3)
ADD = call("add", id="p1", quantity=2)
LOGGED = turn("I have added it. Is one litre fine?", FIND, ADD)


@pytest.mark.parametrize(
    "new",
    [
        LOGGED,
        turn("I've added two packs. Do you want the large one?", FIND, ADD),
        turn("I have added it. Is one litre fine?", ADD, FIND),
        turn(
            "I have added it. Is one litre fine?",
            call("find", words="Oat  Milk", diet=["vegan"], limit=3.0),
            call("add", id="P1", quantity=2),
        ),
        turn("I have added it. Is one litre fine?", AgentCall("router", {}, {}), FIND, ADD),
    ],
)
async def test_other_words_for_the_same_deed_are_the_same(new: Turn) -> None:
    assert (await SameActsAndCalls().compare(LOGGED, new)).equivalent


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (turn("I have added it.", FIND, ADD), "ask"),
        (turn("", FIND, ADD), "none now"),
        (turn(LOGGED.reply.text, FIND), 'no longer add({"id":"p1","quantity":2})'),
        (turn(LOGGED.reply.text, FIND, ADD, ADD), "new add"),
        (turn(LOGGED.reply.text, FIND, call("add", id="p2", quantity=2)), '"p2"'),
        (turn(LOGGED.reply.text, FIND, call("add", id="p1", quantity=3)), '"quantity":3'),
        (turn(LOGGED.reply.text, FIND, call("add", "sold out", id="p1", quantity=2)), "refused"),
    ],
)
async def test_another_act_or_call_is_a_difference_and_is_named(new: Turn, why: str) -> None:
    comparison = await SameActsAndCalls().compare(LOGGED, new)
    assert not comparison.equivalent
    assert why in comparison.reason


async def test_the_same_deed_with_another_outcome_is_a_difference() -> None:
    def after(**state: Any) -> Turn:
        return turn("Here you are.", FIND, **state)

    same = SameActsAndCalls()
    before = after(shown=["p1", "p2"], cart=[], total=0.0)
    assert (await same.compare(before, after(shown=["p1", "p2"], cart=[], total=1))).equivalent
    assert (await same.compare(after(), before)).equivalent, "a log may not tell"
    other = await same.compare(before, after(shown=["p2"], cart=[{"id": "p2"}]))
    assert other == Comparison(False, "another shown and cart")
