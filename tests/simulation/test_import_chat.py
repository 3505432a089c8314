"""Chat JSONL becomes trajectories; a malformed line is refused by its number, and no other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.assistant import AgentCall, ToolCall
from cotune.agents.errors import UsageError
from cotune.simulation.importers import chat_jsonl
from cotune.simulation.trajectory import StopReason, Trajectory

Message = dict[str, Any]
HELLO: list[Message] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "hi there"},
]


def says(role: str, content: Any, **more: Any) -> Message:
    return {"role": role, "content": content, **more}


def call(id_: str, name: str, arguments: Any) -> Message:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*requests: Message, **more: Any) -> Message:
    return {"role": "assistant", "content": None, "tool_calls": list(requests), **more}


def returns(id_: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def read_bytes(path: Path, content: bytes) -> tuple[list[Trajectory], list[str]]:
    path.write_bytes(content)
    imported = chat_jsonl.read(str(path))
    return list(imported), [str(refused) for refused in imported.refused]


def line(messages: object, **more: Any) -> str:
    return json.dumps({"messages": messages, **more})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "chats.jsonl"


def only(file: Path, *messages: Mapping[str, Any], **more: Any) -> Trajectory:
    loaded, refused = read_bytes(file, line(messages, **more).encode())
    assert refused == []
    (trajectory,) = loaded
    return trajectory


def refusal(file: Path, broken: str) -> str:
    """Read a broken line between two good ones; return why it was refused."""
    loaded, refused = read_bytes(file, "\n".join([line(HELLO), broken, line(HELLO)]).encode())
    assert [each.scenario for each in loaded] == ["line-1", "line-3"]
    (reason,) = refused
    assert reason.startswith("line 2: ")
    return reason.removeprefix("line 2: ")


def test_a_chat_with_tools_becomes_turns(file: Path) -> None:
    trajectory = only(
        file,
        says("system", "Sell tea."),
        says("assistant", "Welcome!"),
        says("user", "Tea, please."),
        says("user", "Green."),
        says("assistant", "One moment."),
        calls(call("1", "find", '{"tea": "green"}'), call("2", "stock", "")),
        returns("2", "[3]"),
        returns("1", "[in the back]"),
        says("assistant", "Here it is."),
        says("user", "And cups?"),
        id="tea-1",
        metadata={"shop": "north", "reward": 0.5},
    )
    assert trajectory.scenario == "tea-1"
    (turn,) = trajectory.turns
    assert turn.message == "Tea, please.\n\nGreen."
    assert turn.reply.text == "One moment.\n\nHere it is."
    assert turn.reply.calls == (
        ToolCall("find", "assistant", {"tea": "green"}, "[in the back]"),
        ToolCall("stock", "assistant", {}, [3]),
    )
    assert trajectory.stop is StopReason.OPEN
    assert trajectory.metadata == {
        "shop": "north",
        "reward": 0.5,
        "source": "chat",
        "system": "Sell tea.",
        "greeting": "Welcome!",
        "unanswered": "And cups?",
        "missing": ["state", "agents", "stop"],
    }


def test_what_is_done_before_the_customer_speaks_belongs_to_the_first_turn(file: Path) -> None:
    trajectory = only(file, calls(call("1", "load", "{}")), returns("1", "ok"), *HELLO)
    assert [made.tool for _, made in trajectory.tool_calls()] == ["load"]


def test_named_agents_and_thoughts_are_kept_apart_from_what_is_said(file: Path) -> None:
    trajectory = only(
        file,
        says("user", "Tea?"),
        calls(call("1", "find", "{}"), name="finder", reasoning_content="look in the back"),
        returns("1", "none"),
        says("assistant", "Sorry, none.", name="clerk"),
    )
    assert trajectory.turns[0].reply.calls == (
        AgentCall("finder", {}, {"thought": "look in the back"}),
        ToolCall("find", "finder", {}, "none"),
        AgentCall("clerk", {}, {"text": "Sorry, none."}),
    )
    assert trajectory.metadata["missing"] == ["state", "stop"]


def test_parts_are_joined_and_lost_attachments_are_said(file: Path) -> None:
    parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:,x"}},
        {"type": "text", "text": "nice?"},
    ]
    trajectory = only(file, says("user", parts), says("assistant", "Very."))
    assert trajectory.turns[0].message == "Look:\nnice?"
    assert "attachments" in trajectory.metadata["missing"]


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ("Error: sold out", "Error: sold out"),
        ('{"error": "sold out"}', "sold out"),
        ('{"error": null}', ""),
        ("Errors are rare here", ""),
        ("no error", ""),
    ],
)
def test_a_tools_refusal_is_known_by_its_result(file: Path, result: str, error: str) -> None:
    trajectory = only(file, HELLO[0], calls(call("1", "buy", "{}")), returns("1", result), HELLO[1])
    ((_, made),) = trajectory.tool_calls()
    assert made.error == error


def test_a_call_without_a_result_is_kept_and_said_to_be_missing_one(file: Path) -> None:
    trajectory = only(file, HELLO[0], calls(call("1", "buy", {"id": 7})))
    assert [made for _, made in trajectory.tool_calls()] == [
        ToolCall("buy", "assistant", {"id": 7}, None)
    ]
    assert trajectory.metadata["missing"] == ["state", "agents", "tool_results", "reply", "stop"]


def test_a_call_id_may_be_used_again_once_it_is_answered(file: Path) -> None:
    twice = [calls(call("0", "buy", "{}")), returns("0", "1"), calls(call("0", "buy", "{}"))]
    trajectory = only(file, HELLO[0], *twice, returns("0", "2"), HELLO[1])
    assert [made.result for _, made in trajectory.tool_calls()] == ["1", "2"]


@pytest.mark.parametrize(
    ("token", "stop"),
    [
        ("###STOP###", StopReason.SATISFIED),
        ("###TRANSFER###", StopReason.OUT_OF_SCOPE),
        ("###OUT-OF-SCOPE###", StopReason.OUT_OF_SCOPE),
    ],
)
def test_stop_tokens_end_the_chat(file: Path, token: str, stop: StopReason) -> None:
    trajectory = only(file, *HELLO, says("user", token), says("assistant", "Bye."))
    assert trajectory.stop is stop
    assert [turn.reply.text for turn in trajectory.turns] == ["hi there\n\nBye."]
    assert "unanswered" not in trajectory.metadata
    assert trajectory.metadata["missing"] == ["state", "agents"]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([], "messages: "),
        ("hello", "messages: "),
        ([*HELLO, says("customer", "x")], "messages.2.role: found 'customer'"),
        ([{"role": "user"}], "messages.0: the user message has no content"),
        ([HELLO[0], says("assistant", None)], "the assistant message has no content"),
        ([says("user", 5)], "messages.0.content: found 5"),
        ([says("user", ["hi"])], "messages.0.content.0: found 'hi'"),
        ([*HELLO, returns("9", "x")], "message 3: no tool call waits for the result of '9'"),
        ([says("tool", "x")], "a tool's result names its call"),
        ([HELLO[0], calls(call("1", "buy", "{oops"))], "arguments: found '{oops'; it is not JSON"),
        ([HELLO[0], calls(call("1", "buy", "[1]"))], "arguments are a JSON object"),
        ([HELLO[0], calls(call("1", "", "{}"))], "function.name"),
        ([says("user", "x", tool_calls=[call("1", "buy", "{}")])], "user cannot call tools"),
        (
            [HELLO[0], calls(call("1", "buy", "{}"), call("1", "buy", "{}"))],
            "message 2: the tool call id '1' is in use",
        ),
        ([says("system", "Sell tea.")], "no customer message has an answer"),
        ([says("assistant", "Welcome!")], "no customer message has an answer"),
        ([HELLO[0]], "no customer message has an answer"),
    ],
)
def test_a_malformed_chat_is_refused_with_the_reason(
    file: Path, messages: object, reason: str
) -> None:
    assert reason in refusal(file, line(messages))


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("{", "it is not JSON"),
        ("[]", "found an empty list where an object is expected"),
        ("null", "found nothing where an object is expected"),
        ("{}", "messages: this field is missing"),
        (line(HELLO, metadata={"x": float("nan")}), "NaN is no number in JSON"),
        (line([says("user", "\ud83d"), HELLO[1]]), "half of a Unicode surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        (line(HELLO, metadata={"x": json.loads("[" * 200 + "]" * 200)}), "nested too deeply"),
        (line(HELLO, metadata=[]), "metadata"),
    ],
)
def test_a_line_that_is_no_record_is_refused_with_the_reason(
    file: Path, broken: str, reason: str
) -> None:
    assert reason in refusal(file, broken)


def test_an_id_is_taken_once(file: Path) -> None:
    lines = [line(HELLO, id="a"), line(HELLO, id="b"), line(HELLO, id="a"), line(HELLO)]
    loaded, refused = read_bytes(file, "\n".join(lines).encode())
    assert [each.scenario for each in loaded] == ["a", "b", "line-4"]
    assert refused == ["line 3: the id 'a' was there before, at 1"]


def test_a_line_that_is_too_long_is_refused_and_the_next_is_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_jsonl, "LONGEST_LINE", 500)
    assert "longer than 500 bytes" in refusal(file, line([says("user", "x" * 5_000), HELLO[1]]))


def test_a_line_of_a_million_characters_is_read(file: Path) -> None:
    trajectory = only(file, says("user", "é" * 1_000_000), HELLO[1])
    assert len(trajectory.turns[0].message) == 1_000_000


def test_windows_files_and_blank_lines_are_read_and_lines_counted_as_an_editor_does(
    file: Path,
) -> None:
    content = "\r\n".join([line(HELLO), "", "  ", "{", line(HELLO), ""])
    loaded, refused = read_bytes(file, b"\xef\xbb\xbf" + content.encode())
    assert [each.scenario for each in loaded] == ["line-1", "line-5"]
    assert [reason.split(":")[0] for reason in refused] == ["line 4"]


def test_a_line_that_is_not_utf_8_is_refused(file: Path) -> None:
    content = line([says("user", "x"), HELLO[1]]).encode().replace(b'"x"', b'"\xff"')
    loaded, refused = read_bytes(file, content + b"\n" + line(HELLO).encode())
    assert len(loaded) == 1
    assert refused[0].startswith("line 1: it is not UTF-8")


def test_conversations_are_given_while_the_file_is_read(file: Path) -> None:
    file.write_text("\n".join([line(HELLO), "{", line(HELLO)]))
    imported = chat_jsonl.read(str(file))
    conversations = iter(imported)
    assert next(conversations).scenario == "line-1"
    assert imported.refused == []
    assert next(conversations).scenario == "line-3"
    assert [refused.number for refused in imported.refused] == [2]


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        chat_jsonl.read(str(tmp_path / "none.jsonl"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "tool_calls", "id", "function", "name", "type"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(messages=st.lists(JSON, max_size=4))
def test_whatever_the_messages_are_the_line_is_loaded_or_refused(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Any]
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    loaded, refused = read_bytes(file, line(messages).encode())
    assert len(loaded) + len(refused) == 1
