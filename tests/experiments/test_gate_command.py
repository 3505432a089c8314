"""`cotune gate`: exit codes and reasons that a pipeline and its people understand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .airline_logs import AIRLINE, write_logs
from .command_line import cotune


@pytest.fixture
def verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four conversations, three of them solved."""
    monkeypatch.chdir(AIRLINE)
    logs = write_logs(tmp_path / "logs.jsonl", [1.0, 0.0, 1.0, 1.0])
    out = tmp_path / "v.jsonl"
    assert cotune("judge", logs, "--rubric", "airline.yaml", "--out", out).code == 0
    return out


def test_what_is_good_enough_exits_with_0(verdicts: Path):
    said = cotune("gate", verdicts, "--min", "solved=0.75", "--min", "conversations=4")
    assert (said.code, said.err) == (0, "")
    assert "ok    criterion.solved: the mean of the criterion 'solved' is 0.75 over 4" in said.out


def test_what_is_not_exits_with_1_and_says_why(verdicts: Path):
    said = cotune("gate", verdicts, "--min", "solved=0.8", "--max", "critical_failures=0.1")
    assert said.code == 1
    assert said.err.startswith("cotune: the gate failed. critical_failures: ")
    assert "is 0.75 over 4, at least 0.8 needed." in said.err
    assert said.out.count("FAIL") == 2


def test_the_command_goes_before_the_file(verdicts: Path, tmp_path: Path):
    file = tmp_path / "gate.yaml"
    file.write_text("min:\n  conversations: 100\n  outcome: 0.7\n")
    said = cotune("gate", verdicts, "--file", file)
    assert said.code == 1
    assert "too few conversations: 4 have a score, at least 100 needed" in said.err
    assert cotune("gate", verdicts, "--file", file, "--min", "conversations=3").code == 0


def test_json_has_every_requirement(verdicts: Path):
    said = cotune("gate", verdicts, "--min", "conduct=0.5", "--min", "solved=1", "--json")
    assert said.code == 1
    content = json.loads(said.out)
    assert not content["passed"]
    met = {each["name"]: each["met"] for each in content["requirements"]}
    assert met == {
        "conversations": True,
        "inconclusive": True,
        "undecided": True,
        "domain.conduct": True,
        "criterion.solved": False,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--min", "speed=1"], "There is no figure 'speed'"),
        (["--min", "speed=1"], "outcome, conduct, solved, tools_worked, told_the_outcome"),
        (["--min", "overall"], "--min 'overall' is no NAME=VALUE"),
        (["--min", "overall=high"], "--min overall: found 'high'"),
        (["--min", "overall=80"], "'overall' is 80, and figures are from 0 to 1"),
        (["--max", "failed=-1"], "--max failed: found '-1'"),
        (["--min", "overall=nan"], "--min overall: found 'nan'"),
        (["--min", "overall=1", "--min", "overall=0"], "gives 'overall' twice"),
        (["--file", "nowhere.yaml"], "Cannot read the gate file nowhere.yaml"),
    ],
)
def test_a_threshold_that_means_nothing_exits_with_2(verdicts: Path, words: list[str], said: str):
    result = cotune("gate", verdicts, *words)
    assert result.code == 2
    assert said in result.err


def test_what_is_no_verdicts_file_exits_with_2(verdicts: Path):
    said = cotune("gate", verdicts.with_name("logs.jsonl"), "--min", "overall=1")
    assert said.code == 2
    assert "logs.jsonl, line 1: " in said.err
