"""`cotune experiment magic`, as a person types it, at the smallest size there is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from cotune.experiments.config import Tracking, load_config
from cotune.experiments.magic import page
from cotune.experiments.magic.arms import WHOLE, Arm
from cotune.experiments.magic.experiment import MagicRun
from cotune.experiments.magic.page import render_page
from cotune.experiments.magic.record import MagicRecord
from cotune.experiments.magic.tracked import log_comparison
from cotune.experiments.mlflow_access import connected

from .command_line import Said, cotune, endpoint, run_folder

MAGIC = Path(page.__file__).parent
ROLLOUTS = 168
AGENTS = {"briefer", "cart", "preferences", "responder", "router", "search", "selector"}
CONFIG: dict[str, Any] = {
    "models": {"task": {"model": "scripted:grocery", "attempts": 1}},
    "simulation": {"conversation": {"turns": 6}},
    "system": {"use": {"train": 4, "val": 2, "test": 3}},
    "search": {"minibatch": 2, "patience": 2},
    "selection": {"finalists": 1},
    "limits": {"rollouts": ROLLOUTS},
}


def magic(folder: Path, *words: object) -> Said:
    config = folder / "magic.yaml"
    config.write_text(yaml.safe_dump(CONFIG))
    asked = ("--config", config, "--out", folder / "runs", "--no-mlflow", "--json")
    return cotune("experiment", "magic", *asked, *words)


def read(folder: Path) -> MagicRecord:
    return MagicRecord.model_validate_json(
        (run_folder(folder / "runs" / "magic") / "magic.json").read_text()
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("magic")
    said = magic(folder)
    assert said.code == 0, said.err
    assert json.loads(said.out) == json.loads(read(folder).model_dump_json())
    assert "This is a simulation" in said.err
    return folder


def test_four_arms_on_the_same_scenarios_each_within_its_budget(done: Path) -> None:
    record = read(done)
    assert [arm.arm for arm in record.arms] == list(Arm)
    assert {arm.overall and arm.overall.n for arm in record.arms} == {3}
    assert record.arm(Arm.SEED).rollouts == 0
    assert all(0 < arm.rollouts <= ROLLOUTS for arm in record.arms[1:])
    for arm in (Arm.ALONE, Arm.BOTH):
        assert {node.node for node in record.nodes if node.arm is arm} - {WHOLE} == AGENTS
    assert all(node.spent <= node.allowed for node in record.nodes)
    allowed = {arm: sum(n.allowed for n in record.nodes if n.arm is arm) for arm in Arm}
    assert allowed == {Arm.SEED: 0, Arm.ALONE: 168, Arm.TOGETHER: 168, Arm.BOTH: 168}


def test_every_two_arms_are_compared_in_pairs(done: Path) -> None:
    record = read(done)
    pairs = [(pair.before, pair.after) for pair in record.pairs]
    assert len(set(pairs)) == len(pairs) == 6
    for pair in record.pairs:
        before, after = record.arm(pair.before).overall, record.arm(pair.after).overall
        assert before is not None
        assert after is not None
        difference = pair.held_out.overall.difference
        assert difference.mean == pytest.approx(after.mean - before.mean)
        if record.arm(pair.before).prompts == record.arm(pair.after).prompts:
            assert (difference.low, difference.high) == (0.0, 0.0)


def test_the_prompts_of_an_arm_are_its_nodes_winners(done: Path) -> None:
    record = read(done)
    seed, alone = record.arm(Arm.SEED).prompts, record.arm(Arm.ALONE).prompts
    won = {node.node for node in record.nodes if node.arm is Arm.ALONE and node.winner}
    assert {agent for agent in seed if alone[agent] != seed[agent]} == won
    folder = run_folder(done / "runs" / "magic") / "prompts"
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b", "c", "d"]
    assert alone["router"] in (folder / "b" / "router.md").read_text()


def test_the_same_command_again_pays_for_nothing_and_says_the_same(done: Path) -> None:
    first = read(done)
    assert magic(done).code == 0
    again = read(done)
    assert again.calls == 0 < first.calls
    varying = {"calls", "seconds", "command"}
    assert again.model_dump(exclude=varying) == first.model_dump(exclude=varying)


def test_the_published_numbers_stand_apart(done: Path) -> None:
    record = read(done)
    overall = record.published.rows[-1]
    assert (overall.before, overall.after) == (77.1, 84.7)
    text = render_page(record)
    measured, _, published = text.partition("<h2>Published")
    assert "84.7" not in measured.partition("<h2>Measured")[2]
    assert "another assistant, another judge" in published
    assert "src=" not in text.partition("<script")[0]
    assert "Simulation" in text


def test_a_scripted_node_shows_each_accepted_candidate_on_held_out(done: Path) -> None:
    for node in read(done).nodes:
        assert len(node.curve) == node.accepted + 1
        if node.test_gain is not None:
            held_out = {point.candidate: point.held_out for point in node.curve}
            assert held_out[node.winner] - held_out[0] == pytest.approx(node.test_gain)


@pytest.mark.parametrize("name", ["scripted", "local"])
def test_the_sizes_that_come_with_cotune_buy_every_stage_a_candidate(
    name: str, tmp_path: Path
) -> None:
    config = load_config(MAGIC / f"{name}.yaml")
    run = MagicRun.prepare(config.model_copy(update={"out": tmp_path}), None, "")
    assert len(run.stages) == 2 * len(AGENTS) + 2


def test_it_stops_in_time_with_what_it_has(tmp_path: Path) -> None:
    said = magic(tmp_path, "--minutes", 0.01)
    assert said.code == 0, said.err
    record = read(tmp_path)
    assert len(record.arms) == 4
    assert any("seconds are over" in node.stopped for node in record.nodes)


def test_a_hosted_model_needs_a_word_and_a_limit(tmp_path: Path) -> None:
    for words in ((), ("--hosted",), ("--usd", 1)):
        said = magic(tmp_path, "--model", "openai/gpt-4.1-mini", *words)
        assert said.code == 2
        assert "Say --hosted, and give a limit" in said.err
    assert not (tmp_path / "runs").exists()


def test_a_hosted_model_that_does_not_answer_costs_one_request(tmp_path: Path) -> None:
    answer = {"error": {"message": "no model gtp", "type": "invalid_request_error"}}
    with endpoint(404, answer) as served:
        asked = ("--model", "openai/gtp", "--api-base", served.api_base, "--hosted", "--tokens")
        said = magic(tmp_path, *asked, 1000)
    assert said.code == 1
    assert "openai/gtp" in said.err
    assert served.requests == 1


def test_too_few_rollouts_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    said = magic(tmp_path, "--rollouts", 100)
    assert said.code == 2
    assert "--rollouts 100 leaves" in said.err
    assert "does not buy one candidate" in said.err


def test_mlflow_has_a_child_for_each_stage_and_writing_again_changes_nothing(
    done: Path, tmp_path: Path, mlflow_tables: Path
) -> None:
    shutil.copy(mlflow_tables, tmp_path / "mlflow.db")
    record, tracking = read(done), Tracking(uri=f"sqlite:///{tmp_path / 'mlflow.db'}")
    folder = run_folder(done / "runs" / "magic")
    files = (folder / "magic.json", folder / "magic.html")
    run_id = log_comparison(record, files, tracking, None)
    assert run_id is not None
    assert log_comparison(record, files, tracking, run_id) == run_id
    client = connected(tracking.uri)
    run = client.get_run(run_id)
    overall = record.arm(Arm.TOGETHER).overall
    assert overall is not None
    assert run.data.metrics["held_out/c/overall"] == pytest.approx(overall.mean)
    children = client.search_runs(
        [run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{run_id}'"
    )
    assert len(children) == len(record.nodes)
    assert {artifact.path for artifact in client.list_artifacts(run_id)} == {
        "magic.html",
        "magic.json",
    }
