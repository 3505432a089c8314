"""A trajectory survives the way through JSON exactly, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.errors import Fault, FaultOrigin, UsageError
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_json import (
    VERSION,
    TrajectoryRecord,
    trajectory_from_json,
    trajectory_to_json,
)

text = st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=4
)
objects = st.dictionaries(text, values, max_size=3)
calls = st.builds(AgentCall, text, objects, objects) | st.builds(
    ToolCall, text, text, objects, values, text
)
replies = st.builds(Reply, text, st.lists(calls, max_size=3).map(tuple))
turns = st.lists(st.builds(Turn, text, replies, objects, objects), max_size=3).map(tuple)
faults = st.none() | st.builds(Fault, st.sampled_from(FaultOrigin), text, text)
trajectories = st.builds(
    Trajectory, text, turns, objects, st.sampled_from(StopReason), faults, objects
)

SMALL = Trajectory(
    "s1",
    (Turn("hi", Reply("hello", (ToolCall("find", "search", {"q": 1}, [2]),)), {"cart": []}),),
    {"cart": []},
    StopReason.FAULT,
    Fault(FaultOrigin.PROVIDER, "rate_limit", "no"),
    {"unanswered": "more"},
)


@settings(max_examples=50)
@given(trajectories)
def test_round_trip_is_exact(trajectory: Trajectory) -> None:
    sent = json.dumps(trajectory_to_json(trajectory))
    assert trajectory_from_json(json.loads(sent)) == trajectory


def test_the_form_is_as_documented() -> None:
    assert trajectory_to_json(SMALL) == {
        "version": 1,
        "scenario": "s1",
        "initial_state": {"cart": []},
        "turns": [
            {
                "message": "hi",
                "reply": {
                    "text": "hello",
                    "calls": [
                        {
                            "call": "tool",
                            "tool": "find",
                            "agent": "search",
                            "arguments": {"q": 1},
                            "result": [2],
                            "error": "",
                        }
                    ],
                },
                "state": {"cart": []},
                "notes": {},
            }
        ],
        "stop": "fault",
        "fault": {"origin": "provider", "kind": "rate_limit", "message": "no"},
        "metadata": {"unanswered": "more"},
    }


@pytest.mark.parametrize("version", [VERSION + 1, 0, 99])
def test_another_version_is_refused_with_what_to_do(version: int) -> None:
    value = {**trajectory_to_json(SMALL), "version": version}
    with pytest.raises(UsageError, match=rf"version: found {version};.*newer cotune"):
        trajectory_from_json(value)


def _without(field: str) -> dict[str, Any]:
    return {name: value for name, value in trajectory_to_json(SMALL).items() if name != field}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (_without("version"), "version: this field is missing"),
        (_without("turns"), "turns: this field is missing"),
        ({**trajectory_to_json(SMALL), "stop": "bored"}, "stop: found 'bored'"),
        ({**trajectory_to_json(SMALL), "extra": 1}, "extra: no such field"),
        ({**trajectory_to_json(SMALL), "turns": [{"message": 3}]}, r"turns\.0\."),
    ],
)
def test_what_is_no_trajectory_is_refused_by_field(value: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        trajectory_from_json(value)


def test_calls_are_told_apart_by_what_they_are() -> None:
    value = trajectory_to_json(SMALL)
    value["turns"][0]["reply"]["calls"][0]["call"] = "phone"
    with pytest.raises(UsageError, match="phone"):
        trajectory_from_json(value)


def test_there_is_a_schema_for_other_readers() -> None:
    schema = TrajectoryRecord.model_json_schema()
    assert set(schema["properties"]) == set(trajectory_to_json(SMALL))
