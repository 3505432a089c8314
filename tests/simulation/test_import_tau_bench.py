"""tau-bench results become trajectories with their calls, scores and goals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.assistant import AgentCall, ToolCall
from cotune.agents.errors import UsageError
from cotune.simulation.importers import tau_bench
from cotune.simulation.trajectory import StopReason, Trajectory

SAMPLE = Path(__file__).parent / "tau_bench_sample.json"


def sample() -> list[Any]:
    return json.loads(SAMPLE.read_text())


def read(tmp_path: Path, text: str) -> tuple[list[Trajectory], list[str]]:
    path = tmp_path / "results.json"
    path.write_text(text)
    imported = tau_bench.read(str(path))
    return list(imported), [str(refused) for refused in imported.refused]


def test_turns_calls_and_rewards_are_those_of_the_file() -> None:
    imported = tau_bench.read(str(SAMPLE))
    lamp, paint, where = imported
    assert imported.refused == []
    assert [len(each.turns) for each in (lamp, paint, where)] == [2, 1, 1]
    assert [len(list(each.tool_calls())) for each in (lamp, paint, where)] == [3, 1, 0]
    assert [each.metadata["reward"] for each in (lamp, paint, where)] == [1.0, 0.0, 0.0]
    assert [each.scenario for each in (lamp, paint, where)] == ["task-3", "task-3", "task-4"]
    assert [each.metadata["trial"] for each in (lamp, paint, where)] == [0, 1, 0]


def test_one_turn_holds_all_that_happened_until_the_customer_spoke_again() -> None:
    lamp, *_ = tau_bench.read(str(SAMPLE))
    first, second = lamp.turns
    assert (first.message, first.reply.text, first.reply.calls) == (
        "Hello, I have moved. Can my lamp go to Elm Row 4?",
        "Gladly. Which order is it?",
        (),
    )
    assert second.message == "It is L-7."
    assert second.reply.text == "Your lamp goes to Elm Row 4 now."
    wrong, right = ({"order_id": "L-7", "street": f"{name} 4"} for name in ("Elm Rowe", "Elm Row"))
    order = {"status": "packed", "lamps": ["brass"]}
    assert second.reply.calls == (
        AgentCall("assistant", {}, {"thought": "Let me look at the order first."}),
        ToolCall("get_order", "assistant", {"order_id": "L-7"}, order),
        ToolCall(
            "change_address", "assistant", wrong, "Error: unknown street", "Error: unknown street"
        ),
        ToolCall("change_address", "assistant", right, "done"),
    )


def test_the_stop_token_is_a_reason_and_no_message() -> None:
    lamp, paint, where = tau_bench.read(str(SAMPLE))
    assert [each.stop for each in (lamp, paint, where)] == [
        StopReason.SATISFIED,
        StopReason.OUT_OF_SCOPE,  # handed to a person
        StopReason.TURN_LIMIT,  # neither customer nor assistant ended it
    ]
    assert lamp.metadata["unanswered"] == "Lovely, thanks!"
    assert where.metadata["unanswered"] == "On its way where?"


def test_what_is_known_of_the_task_is_kept_and_what_is_missing_is_said() -> None:
    lamp, paint, _ = tau_bench.read(str(SAMPLE))
    assert lamp.metadata["goal"] == "You are Ida Berg. You want your lamp sent to the new address."
    assert [action["name"] for action in lamp.metadata["expected_actions"]] == ["change_address"]
    assert lamp.metadata["system"] == "You look after the orders of a lamp shop."
    assert lamp.metadata["missing"] == ["state", "agents"]
    assert paint.metadata["missing"] == ["state", "agents", "reply"]


def test_a_malformed_record_is_refused_by_number_and_the_rest_is_loaded(tmp_path: Path) -> None:
    records = sample()
    del records[0]["reward"]
    records.insert(1, "not a record")
    loaded, refused = read(tmp_path, json.dumps(records))
    assert [each.metadata["task_id"] for each in loaded] == [3, 4]
    assert refused == [
        "record 1: reward: this field is missing",
        "record 2: found 'not a record' where an object is expected",
    ]


def test_a_trial_is_loaded_once(tmp_path: Path) -> None:
    loaded, refused = read(tmp_path, json.dumps([*sample(), sample()[1]]))
    assert len(loaded) == 3
    assert refused == ["record 4: trial 1 of task 3 was there before, at 2"]


def test_a_file_that_breaks_off_loses_its_last_record_only(tmp_path: Path) -> None:
    text = json.dumps(sample())
    loaded, refused = read(tmp_path, text[: text.rindex("On its way where?")])
    assert len(loaded) == 2
    (reason,) = refused
    assert reason.startswith("record 3: it is not JSON")


def test_a_record_that_is_no_json_does_not_hide_the_next(tmp_path: Path) -> None:
    good = json.dumps(sample()[2])
    loaded, refused = read(tmp_path, f'[{good[:-1]}, "reward": NaN}}, {{"a": tru}}, {good}]')
    assert len(loaded) == 1
    assert [reason.split(":")[0] for reason in refused] == ["record 1", "record 2"]
    assert "NaN is no number" in refused[0]


@pytest.mark.parametrize("text", ["", "{}", '{"traj": []}', "nothing"])
def test_another_kind_of_file_is_a_usage_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"results\.json does not hold a JSON array"):
        read(tmp_path, text)


def test_an_empty_array_has_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, " [ ] ") == ([], [])


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read the tau-bench results"):
        tau_bench.read(str(tmp_path / "none.json"))
