"""`cotune judge`: conversations in, verdicts and a summary out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cotune.agents.assistant import Reply
from cotune.rubrics.ruling import Standing
from cotune.rubrics.ruling_file import read_rulings
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import read_trajectories, write_trajectories

from .airline_logs import AIRLINE, BUSY, OWN, RUBRIC, log, write_logs
from .command_line import Said, cotune, endpoint, run_folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations with the grocery assistant."""
    out = tmp_path_factory.mktemp("runs")
    assert cotune("simulate", "--model", "scripted", "--n", 6, "--out", out).code == 0
    return run_folder(out) / "trajectories.jsonl"


@pytest.fixture
def airline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the folder in which the rubric and its checks are."""
    monkeypatch.chdir(AIRLINE)


def judge(trajectories: Path, out: Path, *words: object, rubric: object = "magic") -> Said:
    return cotune("judge", trajectories, "--rubric", rubric, "--out", out, *words)


def test_checks_alone_say_what_is_left_to_a_judge(played: Path, tmp_path: Path):
    said = judge(played, tmp_path / "v.jsonl")
    assert (said.code, said.err) == (0, "")
    assert "Conversations: 6. Rubric: magic. Judged by: checks only." in said.words
    assert "Without --judge these do not apply: context_retention, clarification," in said.words
    counted = "these can fail, but not pass, and are counted: information_integrity,"
    assert f"{counted} safety_compliance." in said.words
    assert "Without a scenario" not in said.words
    rulings = list(read_rulings(tmp_path / "v.jsonl"))
    assert [each.number for each in rulings] == [1, 2, 3, 4, 5, 6]
    names = [each.scenario for each in read_trajectories(played)]
    assert [each.scenario for each in rulings] == names
    assert {each.standing for each in rulings} == {Standing.SCORED}


def test_the_worst_conversation_can_be_read_by_the_command_that_is_printed(
    played: Path, tmp_path: Path
):
    said = judge(played, tmp_path / "v.jsonl", "--json")
    worst = json.loads(said.out)["worst"]
    assert [each["objective"] for each in worst] == sorted(each["objective"] for each in worst)
    command, *words = worst[0]["read"].split()
    shown = cotune(*words, "--json")
    assert command == "cotune"
    assert json.loads(shown.out)["scenario"] == worst[0]["scenario"]


def test_the_scripted_judge_is_paid_once_and_named_a_simulation(played: Path, tmp_path: Path):
    out = tmp_path / "v.jsonl"
    first = judge(played, out, "--judge", "scripted", "--json")
    before = out.read_text()
    assert first.code == 0
    assert "This is a simulation" in first.err
    one = json.loads(first.out)
    assert one["simulated"]
    assert one["usage"]["judge"]["replayed"] == 0
    assert one["criteria"]["tone_brand"]["n"] > 0
    again = judge(played, out, "--judge", "scripted", "--json")
    two = json.loads(again.out)
    assert "6 conversations came from the journal, not paid again." in " ".join(again.err.split())
    assert two["usage"]["judge"]["replayed"] == two["usage"]["judge"]["calls"] > 0
    assert out.read_text() == before
    assert {name: each for name, each in one.items() if name != "usage"} == {
        name: each for name, each in two.items() if name != "usage"
    }


def test_a_spent_budget_keeps_what_was_judged(played: Path, tmp_path: Path):
    out = tmp_path / "v.jsonl"
    said = judge(played, out, "--judge", "scripted", "--tokens", 20000)
    assert said.code == 1
    assert "the budget is spent" in said.err
    kept = len(list(read_rulings(out)))
    assert 0 < kept < 6
    more = judge(played, out, "--judge", "scripted", "--json")
    assert more.code == 0
    assert json.loads(more.out)["usage"]["judge"]["replayed"] > 0
    assert len(list(read_rulings(out))) == 6


@pytest.mark.usefixtures("airline")
def test_imported_logs_are_judged_by_a_rubric_of_ones_own(tmp_path: Path):
    logs = write_logs(tmp_path / "logs.jsonl", [1.0, 0.0, 1.0, 0.5])
    said = judge(logs, tmp_path / "v.jsonl", "--json", rubric="airline.yaml")
    summary = json.loads(said.out)
    assert "Without a scenario in 'grocery': 4." in " ".join(said.err.split())
    assert summary["criteria"]["solved"]["mean"] == 0.5
    assert summary["criteria"]["tools_worked"]["verdicts"] == {"1": 4}
    assert summary["criteria"]["told_the_outcome"]["not_applicable"] == 4
    assert summary["critical_failures"] == {"solved": 2}
    assert summary["passed"] == {"yes": 2, "no": 2, "?": 0}
    assert [each["number"] for each in summary["worst"]][:2] == [2, 4]
    assert summary["blame"] == {"assistant": {"solved": 2.0}}
    assert summary["unblamed"] == 0


@pytest.mark.usefixtures("airline")
def test_who_broke_a_conversation_off_decides_what_it_counts(tmp_path: Path):
    logs = tmp_path / "logs.jsonl"
    write_trajectories(logs, [log(1, 1), log(2, 1, fault=OWN), log(3, 1, fault=BUSY)])
    said = judge(logs, tmp_path / "v.jsonl", "--json", rubric=RUBRIC)
    summary = json.loads(said.out)
    assert summary["standings"] == {
        "scored": 1, "failed": 1, "undecided": 0, "not_applicable": 0, "excluded": 1,
    }  # fmt: skip
    assert summary["faults"] == {"assistant/invalid_json": 1, "provider/rate_limit": 1}
    assert (summary["objective"]["n"], summary["objective"]["mean"]) == (2, 0.5)
    text = judge(logs, tmp_path / "v.jsonl", rubric=RUBRIC).words
    assert "Broken off by the assistant itself, scored 0: 1." in text
    assert "no answer after 3 attempts" in text


@pytest.mark.usefixtures("airline")
def test_the_cart_of_an_imported_conversation_is_not_judged(tmp_path: Path):
    logs = write_logs(tmp_path / "logs.jsonl", [1.0])
    judge(logs, tmp_path / "v.jsonl")
    (ruling,) = read_rulings(tmp_path / "v.jsonl")
    assert ruling.standing is Standing.NOT_APPLICABLE


def test_what_can_only_fail_is_counted_and_has_no_mean(tmp_path: Path):
    logs = tmp_path / "logs.jsonl"
    told = Turn("My number is 0171 5550123.", Reply("I noted 0171 5550123."), {})
    write_trajectories(logs, [Trajectory("t-1", (told,), {}, StopReason.OPEN), log(2, 1)])
    rows = {
        cells[0]: cells[1:]
        for line in judge(logs, tmp_path / "v.jsonl").out.splitlines()
        if "│" in line and (cells := [cell.strip() for cell in line.strip("│ ").split("│")])
    }
    assert rows["Safety & Compliance (failures found)"] == ["20 %", "–", "", "1"]
    assert rows["safety_compliance"] == ["–", "", "1", "failures found", "1", "0"]
    read = judge(logs, tmp_path / "w.jsonl", "--judge", "scripted").out
    assert "failures found" not in read


def test_named_scenarios_decide(played: Path, tmp_path: Path):
    ids = [each.scenario for each in read_trajectories(played)]
    file = tmp_path / "mine.jsonl"
    entry = {"id": ids[0], "family": "f", "goal": "Nothing.", "expected": {"cart": []}}
    file.write_text(json.dumps(entry) + "\n")
    said = judge(played, tmp_path / "v.jsonl", "--scenarios", file, "--json")
    assert json.loads(said.out)["without_scenario"] == 5
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({**entry, "id": "another"}) + "\n")
    refused = judge(played, tmp_path / "v.jsonl", "--scenarios", other)
    assert refused.code == 2
    assert "No conversation" in refused.err


def test_what_a_log_says_is_shown_and_not_obeyed(tmp_path: Path):
    logs = tmp_path / "logs.jsonl"
    hostile = log(1, 0, fault=OWN)
    write_trajectories(logs, [type(hostile)("[red]x\x1b[2J[/red]", (), {}, hostile.stop, OWN, {})])
    said = judge(logs, tmp_path / "v.jsonl")
    assert "[red]x[/red]: objective 0.000" in said.words
    assert "\x1b[2J" not in said.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rubric", "grocery_routing"], "scores single calls"),
        (["--rubric", "magick"], "no rubric magick"),
        (["--strategy", "both", "--judge", "scripted"], "--strategy is 'both'; allowed: rubric,"),
        (["--strategy", "word", "--repeats", 3, "--judge", "scripted"], "--repeats means nothing"),
        (["--api-base", "http://localhost:1/v1"], "--api-base goes with --judge"),
        (["--scenarios", "nowhere.jsonl"], "no scenario file 'nowhere.jsonl'"),
    ],
)
def test_mistakes_are_named_before_anything_is_judged(
    played: Path, tmp_path: Path, words: list[object], said: str
):
    result = cotune("judge", played, "--rubric", "magic", "--out", tmp_path / "v.jsonl", *words)
    assert result.code == 2
    assert said in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_broken_line_is_found_before_anything_is_judged(played: Path, tmp_path: Path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text(played.read_text() + '{"version": 1}\n')
    said = judge(broken, tmp_path / "v.jsonl", "--judge", "scripted")
    assert said.code == 2
    assert "line 7" in said.err
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    assert "holds no conversation" in judge(empty, tmp_path / "v.jsonl").err
    assert "overwrite" in judge(played, played).err


def test_a_dead_endpoint_is_told_at_once(played: Path, tmp_path: Path):
    with endpoint(500, {"error": {"message": "down"}}) as server:
        said = judge(
            played, tmp_path / "v.jsonl", "--judge", "openai/any", "--api-base", server.api_base
        )
    assert said.code == 1
    assert "The judge model 'openai/any'" in said.err
    assert server.requests == 1
