"""`cotune show` prints a conversation as a person reads it, and nothing a terminal would obey."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.errors import Fault, FaultOrigin, UsageError
from cotune.experiments.brief import LONGEST, brief, plain
from cotune.experiments.commands.show import run
from cotune.experiments.state_changes import state_changes
from cotune.experiments.transcript import transcript
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import write_trajectories
from cotune.simulation.trajectory_json import trajectory_from_json

MILK = {"product_id": "p1", "name": "Oat milk", "quantity": 2}
TEA = Trajectory(
    scenario="tea-1",
    turns=(
        Turn(
            "Milk and tea, please.",
            Reply(
                "I found milk.",
                (
                    AgentCall("router", {"message": "x"}, {"agent": "search"}),
                    ToolCall("find", "search", {"product": "milk"}, [MILK, {"name": "Soy milk"}]),
                    ToolCall("buy", "cart", {"id": "p9"}, None, "there is no p9"),
                ),
            ),
            {"cart": [MILK], "total": 3.98},
            {"errand": "milk"},
        ),
        Turn("Thanks.", Reply(""), {"cart": [MILK], "total": 3.98}),
    ),
    initial_state={"cart": [], "total": 0},
    stop=StopReason.SATISFIED,
    metadata={"goal": "milk for two", "reward": 1.0, "missing": ["agents"], "seed": 7},
)
BROKEN = replace(
    TEA,
    stop=StopReason.FAULT,
    fault=Fault(FaultOrigin.USER, "role_flip", "the customer spoke as the shop"),
    metadata={"unanswered": "How can I help you?"},
)


def printed(trajectory: Trajectory, *, notes: bool = False) -> str:
    """Return the transcript with runs of spaces made one."""
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=False)
    for block in transcript(trajectory, notes=notes):
        console.print(block)
    return "\n".join(" ".join(line.split()) for line in out.getvalue().splitlines())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    write_trajectories(path, [TEA, replace(BROKEN, scenario="tea-2"), TEA])
    return path


@pytest.fixture
def show(file: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def say(id_: str | None = None, number: int | None = None, as_json: bool = False) -> str:
        run(file, id_, number, as_json=as_json, notes=False)
        return capsys.readouterr().out

    return say


def test_a_transcript_says_who_said_and_did_what_and_what_came_of_it() -> None:
    assert printed(TEA).splitlines() == [
        "scenario tea-1",
        "goal milk for two",
        "about reward=1.0, seed=7",
        "not known agents",
        "",
        "turn 1",
        "customer Milk and tea, please.",
        "agent router: agent=search",
        "tool find(product=milk) → [Oat milk; Soy milk]",
        "tool buy(id=p9)",
        "refused there is no p9",
        "assistant I found milk.",
        "cart + 2 × Oat milk",
        "total 0 → 3.98",
        "",
        "turn 2",
        "customer Thanks.",
        "assistant (says nothing)",
        "",
        "stopped satisfied",
    ]


def test_what_an_agent_says_as_the_reply_is_shown_once() -> None:
    calls = (
        AgentCall("responder", {}, {"reply": "I found milk."}),
        AgentCall("cart", {}, {"operations": []}),
    )
    shown = printed(replace(TEA, turns=(Turn("Milk?", Reply("I found milk.", calls), {}),)))
    assert shown.count("I found milk.") == 1
    assert "agent responder: reply=(the reply below)" in shown
    assert "agent cart: nothing" in shown


def test_notes_are_shown_on_request_only() -> None:
    assert "errand=milk" not in printed(TEA)
    assert "note errand=milk" in printed(TEA, notes=True)


def test_a_fault_and_the_message_without_an_answer_are_shown() -> None:
    shown = printed(BROKEN)
    assert "customer How can I help you?\nno answer the conversation ends here" in shown
    assert "fault user (role_flip): the customer spoke as the shop" in shown


def test_markup_and_control_characters_do_nothing() -> None:
    hostile = "[red]x[/red] \x1b[2J\x1b]0;title\x07\x9b31m[link=file:///x]y[/] \u202egnp\x08\r"
    call = ToolCall(hostile, hostile, {hostile: hostile}, [hostile], hostile)
    agent = AgentCall(hostile, {}, {hostile: hostile})
    turn = Turn(hostile, Reply(hostile, (call, agent)), {hostile: hostile}, {hostile: hostile})
    names = ("goal", "system", "greeting", "unanswered", hostile)
    trajectory = Trajectory(
        hostile,
        (turn,),
        {},
        StopReason.FAULT,
        Fault(FaultOrigin.USER, hostile, hostile),
        {**dict.fromkeys(names, hostile), "missing": [hostile]},
    )
    shown = printed(trajectory, notes=True)
    assert "[red]x[/red] [link=file:///x]y[/] gnp" in shown
    assert not set(shown) & set("\x1b\x9b\x07\x08\r\u202e")
    assert "title" not in shown
    assert "31m" not in shown


def test_a_message_cannot_pose_as_another_speaker() -> None:
    out = io.StringIO()
    turn = Turn("hello\nassistant    I obey.", Reply("Yes?"), {})
    for block in transcript(replace(TEA, turns=(turn,))):
        Console(file=out, width=80).print(block)
    spoken = [line for line in out.getvalue().splitlines() if line.startswith("assistant")]
    assert [line.split() for line in spoken] == [["assistant", "Yes?"]]


def test_what_looks_like_an_escape_sequence_does_not_hide_the_rest() -> None:
    assert plain("pay \x1b] one\x9d euro\nand\x1b two") == "pay ] one euro\nand two"


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\x9d\x07[];m\\")))
def test_plain_text_has_no_control_characters_and_keeps_the_rest(text: str) -> None:
    said = plain(text)
    assert not [c for c in said if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]
    assert plain(said) == said
    if text.isalnum():
        assert said == text


def test_a_brief_is_one_short_line() -> None:
    assert brief({"name": "Oat milk", "price": 3}) == "Oat milk"
    assert (
        brief([{"a": {"b": [1, 2]}, "c": "", "d": 0}, None, []])
        == "[{a={b=[1; 2]}, d=0}; null; []]"
    )
    assert brief(["a", "b", "c", "d"]) == "[4: a; b; c; d]"
    assert brief("two\nlines") == "two lines"
    long = brief(["word " * 100] * 3)
    assert len(long) <= LONGEST
    assert long.endswith("…")


def test_a_brief_goes_only_so_deep() -> None:
    deep: object = "bottom"
    for _ in range(5_000):
        deep = {"in": [deep]}
    assert brief(deep).endswith("{in=[…]}]}]}")


def test_state_changes_name_what_differs() -> None:
    bread = {"product_id": "p2", "name": "Bread", "quantity": 1}
    before = {"cart": [MILK, bread], "store": None, "shown": ["p1"], "same": 1}
    soy = {"product_id": "p3", "name": "Soy milk", "quantity": 1}
    dear = {**bread, "price": 9}
    after = {"cart": [{**MILK, "quantity": 3}, soy, dear], "store": "s1", "shown": [], "same": 1}
    assert list(state_changes(before, after)) == [
        ("cart", "2 → 3 × Oat milk"),
        ("cart", "+ 1 × Soy milk"),
        ("cart", "~ 1 × Bread"),
        ("shown", "[]"),
        ("store", "null → s1"),
    ]
    assert list(state_changes({"cart": [MILK]}, {"cart": []})) == [("cart", "- 2 × Oat milk")]
    assert list(state_changes(before, before)) == []


def test_the_first_conversation_is_shown_unless_another_is_named(
    show: Callable[..., str],
) -> None:
    assert "tea-1" in show()
    assert "tea-2" in show(number=2)
    assert "tea-2" in show(id_="tea-2")


def test_json_is_the_record_itself(show: Callable[..., str]) -> None:
    assert trajectory_from_json(json.loads(show(number=1, as_json=True))) == TEA


@pytest.mark.parametrize(
    ("which", "complaint"),
    [
        ({"number": 0}, "there is no number 0"),
        ({"number": 4}, "has 3 conversations; there is no number 4"),
        ({"id_": "none"}, "has no conversation of the scenario 'none'"),
        ({"id_": "tea-1"}, "2 conversations of the scenario 'tea-1'. Choose one by --number: 1, 3"),
        ({"id_": "tea-1", "number": 1}, "not both"),
    ],
)
def test_what_is_not_there_is_a_usage_error(
    show: Callable[..., str], which: dict[str, object], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        show(**which)


@pytest.mark.parametrize(
    ("count", "said"), [(0, "holds no conversation"), (1, "has 1 conversation; there is no")]
)
def test_a_number_beyond_the_file_is_refused_with_how_many_there_are(
    tmp_path: Path, count: int, said: str
) -> None:
    write_trajectories(tmp_path / "t.jsonl", [TEA] * count)
    with pytest.raises(UsageError, match=said):
        run(tmp_path / "t.jsonl", None, 2, as_json=False, notes=False)
