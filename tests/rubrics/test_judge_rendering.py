"""What a judge reads: everything once, in order, delimited, within a limit, and honest on cuts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.rubrics.judges.lines import lines_of, state_changes
from cotune.rubrics.judges.rendering import Detail, conversations_in, render
from cotune.rubrics.judges.shortening import Focus
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

from .judging import TURNS, conversation, turn

EXPECTED = """\
turn 1
customer: I want oat milk.
agent router received: message="I want oat milk."
agent router returned: agent="search"
tool called by search: find_products(query="milk")
tool result: [{"id":"p-1","price":1.99}]
agent responder received: events=["Here they are."]
agent responder returned: reply="I have added one oat milk."
assistant: I have added one oat milk.
changed: cart got {"id":"p-1","name":"Oat milk","quantity":1}
turn 2
customer: Make it two, please.
agent router received: message="Make it two, please."
agent router returned: agent="search"
tool called by search: find_products(query="milk")
tool result: "found"
agent responder received: events=["Here they are."]
agent responder returned: reply="Done. Have a nice day."
assistant: Done. Have a nice day.
changed: cart[p-1].quantity: 1 became 2
at the end: {"cart":[{"id":"p-1","name":"Oat milk","quantity":2}]}"""


def long_conversation(turns: int = 12, size: int = 3000) -> Trajectory:
    """Each turn has its number, an agent's long input and a tool's long result."""
    return conversation(
        *(_long_turn(index, size) for index in range(turns)),
        metadata={"system": "orders " * 500},
    ).trajectory


def _long_turn(index: int, size: int) -> Turn:
    calls = (
        AgentCall("router", {"history": f"router{index} " * (size // 9)}, {"agent": "cart"}),
        ToolCall("find", "search", {}, f"search{index} " * (size // 9)),
        ToolCall("add", "cart", {}, f"cart{index} " * (size // 9)),
    )
    return Turn(f"Message {index}.", Reply(f"Reply {index}.", calls), {"count": index})


def test_a_conversation_line_by_line():
    rendering = render(conversation().trajectory, 2000)
    assert rendering.body == EXPECTED
    assert not rendering.was_shortened
    assert conversations_in(rendering.text) == [EXPECTED]


def test_what_was_long_and_is_known_is_not_said_twice():
    message = "I would like to have two cartons of oat milk, please."
    body = render(conversation(turn(message, message, [])).trajectory, 2000).body
    assert body.count("two cartons") == 2, "as said by the customer, and by the assistant"
    assert "agent router received: message=(as above)" in body


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({}, {}, []),
        ({"a": 1}, {"a": 2, "b": None}, ["a: 1 became 2"]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 2}}, ["a.b: 1 became 3"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a: [1] became [1,2]"]),
        ({"a": [{"id": 1, "n": 1}]}, {"a": []}, ['a lost {"id":1,"n":1}']),
        ({"a": [{"id": 1, "n": 1}]}, {"a": [{"id": 1, "n": 2}]}, ["a[1].n: 1 became 2"]),
        (
            {"a": [{"id": 1}]},
            {"a": [{"id": 1}, {"id": 1}]},
            ['a: [{"id":1}] became [{"id":1},{"id":1}]'],
        ),
        ({"<a": 1}, {"<a": "x\ny"}, ['\u2039a: 1 became "x\\ny"']),
    ],
)
def test_changes_of_state(before: dict, after: dict, said: list[str]):
    assert list(state_changes(before, after)) == said


def test_what_was_said_can_be_shown_alone_and_then_says_so():
    assert render(conversation().trajectory, 2000, detail=Detail.SPOKEN).body.splitlines() == [
        "[only what was said; calls and changes are not shown]",
        "turn 1",
        "customer: I want oat milk.",
        "assistant: I have added one oat milk.",
        "turn 2",
        "customer: Make it two, please.",
        "assistant: Done. Have a nice day.",
    ]


@pytest.mark.parametrize("limit", [100, 200, 500, 1000, 3000, 10_000])
def test_the_limit_holds_and_cuts_are_told(limit: int):
    rendering = render(long_conversation(), limit)
    assert len(rendering.text) <= 4 * limit
    assert rendering.was_shortened
    assert " cut] " in rendering.body or "left out]" in rendering.body


def test_results_and_inputs_go_before_turns_and_turns_before_what_was_said():
    roomy = render(long_conversation(), 3000).body
    assert all(f"customer: Message {index}." in roomy for index in range(12))
    assert "left out" not in roomy
    tight = render(long_conversation(turns=60), 500).body
    for index in (0, 58, 59):
        assert f"customer: Message {index}.\n" in tight
        assert f"assistant: Reply {index}.\n" in tight
    assert "[turn 30 left out]\n" in tight
    assert "customer: Message 30." not in tight


def test_a_cut_says_how_much_is_gone():
    trajectory = conversation(turn("x" * 5000, "Yes.", [])).trajectory
    once, often = (render(trajectory, limit).body for limit in (600, 180))
    assert f"customer: {'x' * 1500} [3000 characters cut] {'x' * 500}\n" in once
    assert f"customer: {'x' * 300} [4600 characters cut] {'x' * 100}\n" in often


def test_the_evidence_in_question_is_cut_last():
    trajectory = long_conversation()
    kept = {
        agent: render(trajectory, 12_000, Focus(frozenset({agent}))).body
        for agent in ("search", "cart")
    }
    for agent, other in (("search", "cart"), ("cart", "search")):
        assert f"{agent}3 " * 300 in kept[agent]
        assert f"{other}3 " * 100 not in kept[agent]


def test_the_turn_in_question_stays():
    long = long_conversation(turns=60)
    body = render(long, 1500, Focus(frozenset({"cart"}), turn=30)).body
    assert "customer: Message 30.\n" in body
    assert "[turn 30 left out]\n" in body, "this is the turn before it"


def test_the_rendering_is_the_same_every_time():
    first, second = (render(long_conversation(), 900).text for _ in range(2))
    assert first == second


def test_one_other_letter_is_another_mark():
    one, two = (render(conversation(turn(text, "", [])).trajectory, 900).text for text in "ab")
    assert one.splitlines()[0] != two.splitlines()[0]


def test_unanswered_and_greeting_are_told_and_an_empty_conversation_can_be_read():
    metadata = {"greeting": "Welcome!", "unanswered": "Hello?"}
    empty = Trajectory("s-1", (), {"cart": []}, StopReason.OPEN, None, metadata)
    assert render(empty, 100).body.splitlines() == [
        "assistant: Welcome!",
        "customer, not answered: Hello?",
        'at the end: {"cart":[]}',
    ]


ANYTHING = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)


@settings(max_examples=60, deadline=None)
@given(ANYTHING, ANYTHING, ANYTHING, st.integers(100, 400))
def test_whatever_is_said_there_is_one_block_of_our_lines(
    message: str, reply: str, name: str, limit: int
):
    call = AgentCall(name, {name: reply}, {"x": [message, {reply: name}]})
    tool = ToolCall(name, name, {name: message}, {"r": reply}, error=message)
    odd = Turn(message, Reply(reply, (call, tool)), {name: message, "cart": [{"id": reply}]})
    trajectory = replace(conversation().trajectory, turns=(TURNS[0], odd))
    rendering = render(trajectory, limit)
    assert conversations_in(f"{rendering.text}\nabout: x") == [rendering.body]
    assert len(rendering.text) <= 4 * limit
    rendering.text.encode("utf-8")
    assert not {"<", ">"} & set(rendering.body)
    ours = ("turn ", "customer: ", "assistant: ", "agent ", "tool called", "tool result: ",
            "changed: ", "at the end: ", "[")  # fmt: skip
    assert all(line.startswith(ours) for line in rendering.body.split("\n"))
    assert rendering.body.splitlines() == rendering.body.split("\n"), "no other line breaks"
    assert len(list(lines_of(trajectory))) >= len(rendering.body.splitlines())
