"""`cotune simulate`, as a person types it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from cotune.experiments.config import load_config

from .command_line import Said, cotune, edit, endpoint, run_folder, start


def simulated(out: Path, *words: object) -> Said:
    return cotune("simulate", "--model", "scripted", "--out", out, *words)


def written(out: Path) -> str:
    return (run_folder(out) / "trajectories.jsonl").read_text()


def labels(out: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line)["metadata"] for line in written(out).splitlines()]


def configured(folder: Path, model: str = "scripted:grocery", **limits: int) -> Path:
    path = folder / "cotune.yaml"
    task = {"model": model, "attempts": 1}
    content = {"models": {"task": task}, "limits": {"rollouts": 1, **limits}, "out": "runs"}
    path.write_text(yaml.safe_dump(content))
    return path


def test_two_runs_write_the_same_bytes_and_json_is_alone_on_standard_output(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    summary = json.loads(simulated(first, "--n", 3, "--json").out)
    assert summary["stopped"] is None
    assert summary["conversations"] == sum(summary["stops"].values()) == 3
    assert json.loads((run_folder(first) / "summary.json").read_text()) == summary
    assert "3" in simulated(second, "--n", 3).words
    assert written(first) == written(second)


def test_repeats_have_seeds_of_their_own_and_go_on_from_fewer(tmp_path: Path) -> None:
    simulated(tmp_path, "--n", 2)
    summary = json.loads(simulated(tmp_path, "--n", 2, "--repeats", 3, "--json").out)
    assert (summary["conversations"], summary["replayed"]) == (6, 2)
    assert len({label["seed"] for label in labels(tmp_path)}) == 6


def test_conversations_of_train_can_be_looked_at_without_those_of_the_test(tmp_path: Path) -> None:
    config = configured(tmp_path)
    scenarios = load_config(config).system.load_splits("grocery")
    said = cotune("simulate", "--config", config, "--split", "train", "--n", 4)
    assert said.code == 0, said.err
    played = [json.loads(line)["scenario"] for line in written(tmp_path / "runs").splitlines()]
    assert len(played) == 4
    assert set(played) <= {each.id for each in scenarios.train}
    refused = cotune("simulate", "--config", config, "--split", "dev")
    assert refused.code == 2
    assert "--split dev: there is no such split; take train, val, test." in refused.err


def test_a_spent_budget_stops_the_run_with_what_was_played_and_a_way_on(tmp_path: Path) -> None:
    config = configured(tmp_path, tokens=2000)
    stopped = cotune("simulate", "--config", config, "--n", 6, "--json")
    assert stopped.code == 1
    summary = json.loads(stopped.out)
    assert "of 2,000 tokens are used" in summary["stopped"]
    assert "run the same command again" in stopped.err
    runs = tmp_path / "runs"
    assert len(written(runs).splitlines()) == summary["conversations"] < 6
    configured(tmp_path, tokens=2_000_000)
    resumed = json.loads(cotune("simulate", "--config", config, "--n", 6, "--json").out)
    assert resumed["replayed"] == summary["conversations"]
    simulated(tmp_path / "whole", "--n", 6)
    assert written(runs) == written(tmp_path / "whole")


def test_too_many_faults_pause_the_run_and_are_named(tmp_path: Path) -> None:
    config = configured(tmp_path, "scripted:grocery?server_error=1")
    paused = cotune("simulate", "--config", config, "--n", 6)
    assert paused.code == 1
    assert "of 6 conversations were lost" in paused.err
    assert "provider (server)" in paused.err
    assert "cotune show" not in paused.words, "there is nothing to be shown"


def test_only_a_scenario_that_has_changed_is_played_again(tmp_path: Path) -> None:
    scenarios = tmp_path / "scenarios.jsonl"
    config = configured(tmp_path)
    content = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump({**content, "simulation": {"scenarios": scenarios.name}}))
    say = {"kind": "statement", "id": "say", "say": "I am vegan."}
    entries = [{"id": id_, "family": "f", "goal": "g", "errands": [say]} for id_ in "abc"]

    def replayed(scenarios_now: Sequence[Mapping[str, Any]]) -> int:
        scenarios.write_text("".join(json.dumps(entry) + "\n" for entry in scenarios_now))
        return json.loads(cotune("simulate", "--config", config, "--json").out)["replayed"]

    assert replayed(entries) == 0
    assert replayed([*entries[:2], {**entries[2], "budget": 5}]) == 2


def test_a_run_that_paused_for_want_of_time_goes_on_with_more(tmp_path: Path) -> None:
    config = configured(tmp_path)
    content = yaml.safe_load(config.read_text())

    def replayed(seconds: float) -> int:
        limits = {"conversation": {"turn_seconds": seconds}}
        config.write_text(yaml.safe_dump({**content, "simulation": limits}))
        return json.loads(cotune("simulate", "--config", config, "--n", 2, "--json").out)[
            "replayed"
        ]

    assert [replayed(100), replayed(200)] == [0, 2]


def test_the_same_command_in_another_folder_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"id": "a", "family": "f", "goal": "g"}
    (tmp_path / "scenarios.jsonl").write_text(json.dumps(entry) + "\n")
    content = yaml.safe_load(configured(tmp_path).read_text())
    content["simulation"] = {"scenarios": "scenarios.jsonl"}
    (tmp_path / "cotune.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.chdir(tmp_path.parent)
    cotune("simulate", "--config", Path(tmp_path.name) / "cotune.yaml")
    monkeypatch.chdir(tmp_path)
    again = cotune("simulate", "--config", "cotune.yaml", "--json")
    assert json.loads(again.out)["replayed"] == 1


def test_a_run_that_nobody_reads_any_more_ends_without_a_traceback(tmp_path: Path) -> None:
    process = start("simulate", "--model", "scripted", "--n", 10, "--out", tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    assert any(" of 10 conversations" in line for line in process.stdout), "it plays"
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
    assert "Traceback" not in said
    assert json.loads(simulated(tmp_path, "--n", 10, "--json").out)["replayed"] >= 1


def test_template_customers_play_the_scenarios_that_come_with_cotune(tmp_path: Path) -> None:
    summary = json.loads(simulated(tmp_path, "--n", 9, "--user", "template", "--json").out)
    assert summary["stops"] == {"script_ended": 9}


def test_what_there_is_one_of_is_counted_as_one(tmp_path: Path) -> None:
    said = simulated(tmp_path, "--n", 1).words
    assert "1 conversation: 1 scenario x 1, customers by agenda" in said
    assert " 1 of 1 conversation, " in said
    again = simulated(tmp_path, "--n", 1).words
    assert "1 conversation came from the journal" in again


@pytest.mark.parametrize("given", [(), ("--model", "scripted")])
def test_customers_run_on_the_assistants_model_when_no_other_is_named(
    tmp_path: Path, given: Sequence[str]
) -> None:
    config = configured(tmp_path)
    edit(config, simulation={"user": {"kind": "llm"}})
    said = cotune("simulate", "--config", config, "--n", 1, *given)
    assert said.code == 0, said.err
    assert "customers by llm on scripted:grocery, assistant on model scripted:grocery" in said.words
    assert "user model: " in said.words


def test_a_model_of_their_own_stays_the_customers(tmp_path: Path) -> None:
    config = configured(tmp_path)
    models = {"task": {"model": "local:nothing"}, "user": {"model": "scripted:grocery?seed=5"}}
    edit(config, models=models, simulation={"user": {"kind": "llm"}})
    said = cotune("simulate", "--config", config, "--n", 1, "--model", "scripted")
    assert (
        "customers by llm on scripted:grocery?seed=5, assistant on model scripted:groc"
        in said.words
    )


@pytest.mark.parametrize("limits", [{}, {"limits": {"tokens": 10**7}}])
def test_rollouts_need_no_limit_where_none_are_scored(
    tmp_path: Path, limits: Mapping[str, Any]
) -> None:
    config = tmp_path / "cotune.yaml"
    config.write_text(yaml.safe_dump({"models": {"task": {"model": "scripted:grocery"}}, **limits}))
    assert cotune("config", "check", config).code == 0
    assert cotune("simulate", "--config", config, "--n", 1).code == 0


@pytest.mark.parametrize(
    "model", ["nonsense", "no-such-provider/x", "scripted:bakery", "scripted?x=1", "local:gpt", ""]
)
def test_a_model_that_does_not_exist_leaves_nothing_behind(tmp_path: Path, model: str) -> None:
    refused = cotune("simulate", "--model", model, "--n", 1, "--out", tmp_path / "runs")
    assert refused.code in (1, 2)
    assert model.partition(":")[2] in refused.err
    assert "Traceback" not in refused.err
    assert not (tmp_path / "runs").exists()


def test_an_endpoint_that_does_not_know_the_model_leaves_nothing_behind(tmp_path: Path) -> None:
    answer = {"error": {"message": "no model gtp", "type": "invalid_request_error"}}
    with endpoint(404, answer) as served:
        base = ("--api-base", served.api_base, "--out", tmp_path / "runs")
        refused = cotune("simulate", "--model", "openai/gtp", "--n", 1, *base)
    assert refused.code == 1
    assert "openai/gtp" in refused.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"persona": "shoper"}, "no persona 'shoper'"),
        ({"initial_state": {"custmer": "c-01"}}, "initial_state: custmer: no such field; did you"),
        ({"initial_state": {"customer": "c-99"}}, "initial_state: customer: 'c-99' is not in"),
    ],
)
def test_a_scenario_that_cannot_be_played_is_named_with_its_file(
    tmp_path: Path, scenario: Mapping[str, Any], said: str
) -> None:
    scenarios = tmp_path / "mine.jsonl"
    scenarios.write_text(json.dumps({"id": "s-1", "family": "f", "goal": "g", **scenario}))
    config = configured(tmp_path)
    edit(config, simulation={"scenarios": scenarios.name})
    refused = cotune("simulate", "--config", config)
    assert refused.code == 2
    assert f"Scenario 's-1' of {scenarios} cannot be played: " in refused.err
    assert said in refused.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--user", "robot"), "allowed: agenda, llm, template"),
        (("--engine", "spark"), "allowed: asyncio, ray"),
        (("--workers", 2), "--workers goes with --engine ray"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_played(
    tmp_path: Path, words: Sequence[object], said: str
) -> None:
    refused = simulated(tmp_path / "runs", *words)
    assert refused.code == 2
    assert said in refused.err
    assert not (tmp_path / "runs").exists()
