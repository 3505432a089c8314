"""`cotune trajectories import` writes what can be read and says what cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cotune.agents.errors import UsageError
from cotune.experiments.commands import trajectories
from cotune.simulation.importers.importer import Imported, Refused
from cotune.simulation.trajectory import StopReason, Trajectory
from cotune.simulation.trajectory_file import read_trajectories

CHAT = [
    {"role": "user", "content": "Tea?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Error: none"},
    {"role": "assistant", "content": "No."},
]


def line(**more: Any) -> str:
    return json.dumps({"messages": CHAT, **more})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    lines = [line(id="a", metadata={"reward": 1}), "{\x1b[2J", line(id="b", metadata={"reward": 0})]
    path.write_text("\n".join([*lines, line()]))
    return path


def import_(source: object, kind: str, out: Path, *more: str) -> Result:
    words = ["import", str(source), "--from", kind, "--out", str(out), *more]
    return CliRunner().invoke(trajectories.app, words)


def test_what_was_read_is_written_and_summed_up(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "t.jsonl"
    said = import_(source, "chat", out)
    assert said.exit_code == 0
    assert [" ".join(row.split()) for row in said.stdout.splitlines()[:8]] == [
        "loaded 3 conversations",
        "turns 3",
        "tool calls 3, 3 with an error",
        "rewards 2, sum 1, mean 0.500",
        "not known state (in 3)",
        "not known agents (in 3)",
        "not known stop (in 3)",
        "refused 1 record",
    ]
    assert [each.scenario for each in read_trajectories(out)] == ["a", "b", "line-4"]


def test_refusals_are_on_standard_error_by_line_and_cannot_steer_the_terminal(
    source: Path, tmp_path: Path
) -> None:
    said = import_(source, "chat", tmp_path / "t.jsonl")
    assert "chats.jsonl, line 2: it is not JSON" in said.stderr
    assert "\x1b" not in said.output
    assert "line 2" not in said.stdout


def test_the_summary_as_json(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    summary = json.loads(import_(source, "chat", out, "--json").stdout)
    (refused,) = summary.pop("refused")
    assert (refused["unit"], refused["number"]) == ("line", 2)
    assert summary == {
        "out": str(out),
        "loaded": 3,
        "turns": 3,
        "tool_calls": 3,
        "tool_errors": 3,
        "rewards": 2,
        "reward_sum": 1.0,
        "missing": {"state": 3, "agents": 3, "stop": 3},
    }


def test_nothing_loaded_is_a_failure_and_writes_nothing(tmp_path: Path) -> None:
    source, out = tmp_path / "chats.jsonl", tmp_path / "t.jsonl"
    source.write_text("{\n{}\n")
    out.write_text("kept")
    said = import_(source, "chat", out)
    assert said.exit_code == 1
    assert "loaded 0 conversations" in " ".join(said.stdout.split())
    assert len(said.stderr.splitlines()) == 3
    assert said.stderr.rstrip().endswith("chats.jsonl has no conversation that can be read.")
    assert out.read_text() == "kept"


def test_tau_bench_is_read(tmp_path: Path) -> None:
    source, out = tmp_path / "results.json", tmp_path / "t.jsonl"
    source.write_text(json.dumps([{"task_id": 1, "trial": 0, "reward": 0.0, "traj": CHAT}]))
    assert import_(source, "tau-bench", out).exit_code == 0
    (trajectory,) = read_trajectories(out)
    assert trajectory.scenario == "task-1"


def test_a_source_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    for kind in ("chat", "tau-bench"):
        said = import_(tmp_path / "none", kind, tmp_path / "t.jsonl")
        assert isinstance(said.exception, UsageError)
    assert import_(tmp_path, "csv", tmp_path / "t.jsonl").exit_code == 2


def test_conversations_are_written_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = 0

    def records() -> Iterator[Trajectory | Refused]:
        nonlocal alive
        for number in range(50):
            yield _Counted(f"s{number}", (), {}, StopReason.OPEN, None, {"missing": []})
            assert alive <= 4

    class _Counted(Trajectory):
        def __init__(self, *values: Any) -> None:
            nonlocal alive
            super().__init__(*values)
            alive += 1

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    monkeypatch.setitem(
        trajectories._IMPORTERS, trajectories.Format.CHAT, lambda source: Imported(records())
    )
    assert import_("x", "chat", tmp_path / "t.jsonl").exit_code == 0
    assert len(list(read_trajectories(tmp_path / "t.jsonl"))) == 50


def test_what_is_imported_is_not_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "chats.jsonl"
    source.write_text(line())
    said = import_(source, "chat", tmp_path / "." / "chats.jsonl")
    assert isinstance(said.exception, UsageError)
    assert "would overwrite" in str(said.exception)
    assert source.read_text() == line()
