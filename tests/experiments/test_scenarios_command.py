from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cotune.agents.errors import CotuneError, UsageError
from cotune.experiments.commands.scenarios import app
from cotune.simulation.scenario_file import load_scenarios


def typed(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "400"})


def refused(*words: object) -> str:
    error = typed(*words).exception
    assert isinstance(error, UsageError)
    return str(error)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.jsonl"
    path.write_text(
        '{"id": "a", "family": "f", "goal": "[bold]Shop."}\n'
        '{"id": "a", "family": "f", "goal": "Shop."}\n'
        '{"id": "b", "family": "f", "gaol": "Shop.", "budget": 0}\n'
        "[broken]\n"
    )
    return path


def test_a_sound_file_is_counted() -> None:
    result = typed("validate", "grocery")
    assert result.exit_code == 0
    scenarios = load_scenarios("grocery")
    families = len({one.family for one in scenarios})
    assert f"{len(scenarios)} scenarios in {families} families" in result.output


def test_everything_wrong_is_listed_by_line_with_exit_code_2(broken: Path) -> None:
    result = typed("validate", broken)
    assert result.exit_code == 2
    listed = [line.split()[:2] for line in result.stdout.splitlines()[1:]]
    assert listed == [["2", "id"], ["3", "goal"], ["3", "budget"], ["3", "gaol"], ["4", "-"]]
    assert "did you mean 'goal'" in result.stdout
    assert "5 problems on 3 lines; sound: 1 scenario." in result.stderr


def test_a_file_is_shown_by_family() -> None:
    output = typed("show", "grocery").output
    families = {one.family for one in load_scenarios("grocery")}
    assert families <= {line.split()[0] for line in output.splitlines()}


def test_a_family_is_shown_with_goals() -> None:
    output = typed("show", "grocery", "--family", "swap").output
    swaps = [one for one in load_scenarios("grocery") if one.family == "swap"]
    assert all(one.id in output and one.persona in output for one in swaps)
    assert swaps[0].goal.split()[0] in output


def test_one_scenario_is_shown_whole() -> None:
    scenario = load_scenarios("grocery")[0]
    output = typed("show", "grocery", "--id", scenario.id).output
    assert {"id", "family", "goal", "errands", "expected"} <= {
        line.split()[0] for line in output.splitlines()
    }
    assert scenario.goal.split(";")[0] in " ".join(output.split())


def test_json_is_the_scenario_itself() -> None:
    scenario = load_scenarios("grocery")[0]
    one = json.loads(typed("show", "grocery", "--id", scenario.id, "--json").output)
    assert one == scenario.model_dump(mode="json")
    listed = json.loads(typed("show", "grocery", "--family", scenario.family, "--json").output)
    assert listed[0] == one
    assert {each["family"] for each in listed} == {scenario.family}


def test_markup_in_a_scenario_is_shown_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"id": "a", "family": "f", "goal": "Get [bold]milk[/bold]."}')
    for words in (["--id", "a"], ["--family", "f"]):
        assert "Get [bold]milk[/bold]." in typed("show", path, *words).output


def test_what_is_not_there_is_answered_with_what_is_near() -> None:
    assert "for example: 'swap'" in refused("show", "grocery", "--family", "swop")
    assert "'swap-1'" in refused("show", "grocery", "--id", "swap1")
    assert "no scenario file 'nothing.yaml'" in refused("show", "nothing.yaml")


def test_a_broken_file_is_not_shown(broken: Path) -> None:
    assert "line 2: id: 'a' is taken" in refused("show", broken)


def test_a_split_writes_three_files_that_load(tmp_path: Path) -> None:
    result = typed("split", "grocery", "--out", tmp_path / "new" / "splits", "--seed", 3)
    assert result.exit_code == 0
    splits = {
        name: load_scenarios(tmp_path / "new" / "splits" / f"{name}.jsonl")
        for name in ("train", "val", "test")
    }
    whole = {one for members in splits.values() for one in (each.id for each in members)}
    assert whole == {one.id for one in load_scenarios("grocery")}
    for name, members in splits.items():
        row = next(line for line in result.output.splitlines() if line.startswith(name))
        assert row.split()[1:3] == [str(len(members)), str(len({one.family for one in members}))]


def test_one_of_a_kind_is_counted_as_one(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"id": "a", "family": "f", "goal": "Shop."}\n')
    assert "1 scenario in 1 family." in typed("validate", path).output
    assert "1 scenario in 1 family" in typed("show", path).output
    path.write_text(path.read_text() + '{"id": "b", "family": "f"}\n')
    assert "1 problem on 1 line; sound: 1 scenario." in typed("validate", path).stderr


def test_a_split_into_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = typed("split", "grocery", "--out", tmp_path / "file").exception
    assert isinstance(error, CotuneError)
    assert f"cannot be written to {tmp_path / 'file'}" in str(error)
    assert "--out" in str(error)


def test_a_split_does_not_overwrite_another(tmp_path: Path) -> None:
    assert typed("split", "grocery", "--out", tmp_path).exit_code == 0
    before = (tmp_path / "val.jsonl").read_bytes()
    (tmp_path / "train.jsonl").unlink()
    assert "val.jsonl is there already" in refused("split", "grocery", "--out", tmp_path)
    assert (tmp_path / "val.jsonl").read_bytes() == before
    assert not (tmp_path / "train.jsonl").exists(), "nothing was written"


def test_shares_that_cannot_be_are_named(tmp_path: Path) -> None:
    assert "add up to 1.4" in refused("split", "grocery", "--out", tmp_path, "--train", 0.9)
    assert "--val: found -0.2" in refused("split", "grocery", "--out", tmp_path, "--val", -0.2)


def test_what_a_file_says_neither_steers_the_terminal_nor_is_markup(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    hostile = {"id": "a", "family": "\x1b[2J[red]f", "goal": "\x1b]0;title\x07[/]g"}
    path.write_text(json.dumps(hostile) + "\n")
    views = [typed("show", path), typed("show", path, "--id", "a")]
    path.write_text(json.dumps({**hostile, "\x1b[2J[red]x": 1}) + "\n")
    views.append(typed("validate", path))
    for view in views:
        assert "[red]" in view.stdout
        assert "\x1b" not in view.stdout
