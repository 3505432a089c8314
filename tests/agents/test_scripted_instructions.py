from __future__ import annotations

from dspy.lm15 import Config, Message, Request
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.reask import with_reminder
from cotune.agents.scripted.call import Call, read_inputs
from cotune.agents.scripted.instructions import Example, Instructions

PROMPT = """Choose the agent. Be quick!

## Rules
- Thanks go to responder. Always.
1. New products go to search.

## Examples
Input: message: Thanks
previous: null
Output: {"agent": "responder"}

Input: Eggs
Output: {"agent": "search"}

## Afterwards
Mind the budget.
"""


def test_prompt_is_read_into_statements_and_examples() -> None:
    read = Instructions.read(PROMPT)
    assert read.statements == (
        "Choose the agent.",
        "Be quick!",
        "Thanks go to responder. Always.",
        "New products go to search.",
        "Mind the budget.",
    )
    assert read.examples == (
        Example("message: Thanks\nprevious: null", '{"agent": "responder"}'),
        Example("Eggs", '{"agent": "search"}'),
    )


def test_words_are_found_at_their_beginning_and_not_in_examples() -> None:
    read = Instructions.read(PROMPT)
    assert read.mention("budg")
    assert not read.mention("udget")
    assert not read.mention("eggs")


def test_broken_example_has_no_answer() -> None:
    assert Example("a", "{not json").answer() == {}
    assert Example("a", "[1]").answer() == {}


@given(st.text())
def test_any_prompt_can_be_read(prompt: str) -> None:
    read = Instructions.read(prompt)
    assert all(statement.strip() for statement in read.statements)


def test_inputs_are_split_in_order_and_values_may_have_lines() -> None:
    text = 'message: I said\nhistory: none\nhistory: a\nb\ncart: [{"id": 1}]\nprevious: null'
    assert read_inputs(text, ["message", "history", "cart", "previous"]) == {
        "message": "I said",
        "history": "none\nhistory: a\nb",
        "cart": [{"id": 1}],
        "previous": None,
    }


def test_missing_inputs_are_left_out_and_a_single_one_is_everything() -> None:
    assert read_inputs("message: a", ["message", "cart"]) == {"message": "a"}
    assert read_inputs("hello: x\ny", ["message"]) == {"message": "hello: x\ny"}


def test_call_sees_demonstrations_as_examples_and_no_reminder() -> None:
    request = Request(
        model="scripted/grocery",
        system="Choose.",
        messages=(
            Message.user("Hi"),
            Message.assistant('{"agent": "responder"}'),
            Message.user(with_reminder("Milk", 2, 3, "it was cut off")),
        ),
        config=Config(),
    )
    call = Call.of(request, ["message"])
    assert call.string("message") == "Milk"
    assert call.instructions.examples == (Example("Hi", '{"agent": "responder"}'),)
    assert call.items("message") == []
