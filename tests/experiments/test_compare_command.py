"""`cotune compare`: runs, verdicts files and prompts, in pairs, and what cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.experiments.compared import compare, side_of
from cotune.experiments.run_record import RunRecord

from .airline_logs import RUBRIC, write_logs
from .command_line import cotune, record, run_folder
from .system_runs import typed, write_config


class _Tested:
    """A small run whose winner was tested."""

    def __init__(self, folder: Path) -> None:
        self.config = write_config(folder)
        self.runs = folder / "cotune-runs"
        said = cotune(*typed(self.config))
        assert said.code == 0, said.err
        self.record: RunRecord = record(self.runs)
        self.run = run_folder(self.runs)
        assert self.record.held_out is not None


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> _Tested:
    return _Tested(tmp_path_factory.mktemp("tested"))


def _verdicts(folder: Path, name: str, rewards: list[float], rubric: Path = RUBRIC) -> Path:
    logs = write_logs(folder / f"{name}.jsonl", rewards)
    out = folder / f"{name}.verdicts.jsonl"
    assert cotune("judge", logs, "--rubric", rubric, "--out", out).code == 0
    return out


def _json(*words: object) -> dict[str, Any]:
    said = cotune("compare", *words, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


def test_the_sides_of_a_test_compare_as_the_run_says(tested: _Tested) -> None:
    sides = [tested.run / "test" / f"{name}.verdicts.jsonl" for name in ("seed", "winner")]
    found, held_out = _json(*sides), tested.record.held_out
    assert held_out is not None
    assert found["conclusion"] == str(held_out.conclusion)
    assert found["examples"] == held_out.examples
    assert found["score"]["difference"] == held_out.overall.difference.mean
    means = {name: each.difference.mean for name, each in held_out.objectives.items()}
    assert {name: each["difference"] for name, each in found["domains"].items()} == means
    assert found["criteria"].keys() >= {"cart_completeness", "overall_success"}


def test_prompts_are_played_and_what_was_played_before_is_not_paid_again(tested: _Tested) -> None:
    sides = (tested.run / "test" / "seed.verdicts.jsonl", tested.run)
    prompts = tested.run.parent.parent / "seed-prompts"
    tested.record.seed.bundle.save(prompts)
    rewritten = _json(prompts, tested.run, "--config", tested.config)
    assert rewritten["score"] == _json(*sides, "--seed", 3)["score"]
    read = rewritten["flips"][0]["a"]["read"].split()
    assert cotune(*read[1:]).code == 0


def test_a_run_is_found_by_its_name(tested: _Tested) -> None:
    seed = tested.run / "test" / "seed.verdicts.jsonl"
    found = _json(seed, tested.run.name, "--out", tested.runs)
    assert found["score"] == _json(seed, tested.run)["score"]


def test_strict_exits_with_1_when_b_is_worse(tmp_path: Path) -> None:
    good, bad = _verdicts(tmp_path, "good", [1.0] * 12), _verdicts(tmp_path, "bad", [0.0] * 12)
    worse = cotune("compare", good, bad, "--strict")
    assert worse.code == 1
    assert "B is worse: on 12 examples that both played" in worse.words
    assert cotune("compare", bad, good, "--strict").code == 0


def test_it_shows_which_conversations_flipped_and_how_to_read_them(tmp_path: Path) -> None:
    one = _verdicts(tmp_path, "one", [1.0, 0.0, 1.0])
    other = _verdicts(tmp_path, "other", [1.0, 1.0, 0.0, 1.0])
    said = cotune("compare", one, other)
    assert said.code == 0
    assert (
        "2 pairs differ in a criterion; of these B scores higher in 1 and lower in 1." in said.out
    )
    assert "task-1: B meets solved" in said.out
    assert "task-2: B misses solved" in said.out
    assert f"cotune show {tmp_path / 'other.jsonl'} --number 3" in said.out
    assert "Without a partner, and left out: 0 of A, 1 of B." in said.out


def test_scores_of_different_rubrics_are_not_compared(tmp_path: Path) -> None:
    changed = tmp_path / "airline.yaml"
    changed.write_text(RUBRIC.read_text().replace("points: 1", "points: 2", 1))
    one, other = _verdicts(tmp_path, "a", [1.0]), _verdicts(tmp_path, "b", [1.0], changed)
    said = cotune("compare", one, other)
    assert said.code == 2
    assert "so that their scores mean different things" in said.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["logs.jsonl", "v.jsonl"], "holds conversations that nobody has judged"),
        (["empty.jsonl", "v.jsonl"], "holds no verdict"),
        (["prompts", "v.jsonl"], "name the configuration of the assistant with --config"),
        (["v.jsonl", "v.jsonl"], "Both sides are v.jsonl; name two."),
        (["v.jsonl", Path("prompts/../v.jsonl")], "Both sides are v.jsonl; name two."),
        (["$(x) y.jsonl", "v.jsonl"], "`cotune judge '$(x) y.jsonl' --rubric RUBRIC --out FILE`"),
        (["v.jsonl", "nowhere"], "nowhere is no finished run"),
        (["v.jsonl", "other.jsonl", "--repeats", 2], "--repeats is about prompts that are played"),
        (["v.jsonl", "other.jsonl", "--split", "val"], "--split is about prompts that are played"),
        (["v.jsonl", "other.jsonl"], "have no scored example in common"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object], expected: str
) -> None:
    _verdicts(tmp_path, "logs", [1.0]).rename(tmp_path / "v.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    rest = (tmp_path / "v.jsonl").read_text().replace('"task-0"', '"task-9"')
    (tmp_path / "other.jsonl").write_text(rest)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "router.md").write_text("Route.\n")
    (tmp_path / "$(x) y.jsonl").write_text((tmp_path / "logs.jsonl").read_text())
    monkeypatch.chdir(tmp_path)
    said = cotune("compare", *words)
    assert said.code == 2
    assert expected in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--split", "dev"], "--split dev: there is no such split; take train, val, test."),
        (["--agent", "nobody"], "has no agent 'nobody'"),
    ],
)
def test_what_cannot_be_played_is_refused_before_it_is(
    tested: _Tested, tmp_path: Path, options: list[object], expected: str
) -> None:
    PromptBundle.of(*tested.record.seed.bundle.values()).save(tmp_path / "own")
    said = cotune("compare", tmp_path / "own", tested.run, "--config", tested.config, *options)
    assert said.code == 2
    assert expected in said.err


def test_agents_that_a_bundle_lacks_and_others_it_has_are_named(
    tested: _Tested, tmp_path: Path
) -> None:
    seed = tested.record.seed.bundle
    PromptBundle.of(seed["router"], Prompt("pilot", "Fly.")).save(tmp_path / "own")
    said = cotune("compare", tmp_path / "own", tested.run, "--config", tested.config)
    assert said.code == 0, said.err
    lacking = ", ".join(name for name in seed if name != "router")
    assert f"has no prompt of {lacking}, which keep what they start from." in said.words
    assert "has prompts of pilot, which take no part; they are left out." in said.words


def test_that_a_script_answered_is_said_of_runs_too(tested: _Tested) -> None:
    seed = tested.run / "test" / "seed.verdicts.jsonl"
    assert "This is a simulation" in cotune("compare", seed, tested.run).words
    assert _json(seed, tested.run)["simulated"]


def test_one_critical_failure_more_is_called_chance(tmp_path: Path) -> None:
    one = _verdicts(tmp_path, "one", [1.0] * 12)
    other = _verdicts(tmp_path, "other", [1.0] * 11 + [0.0])
    said = cotune("compare", one, other).words
    assert "B is less safe" in said
    assert "(0.0% → 8.3%, perhaps by chance)" in said
    assert "1 pair differs in a criterion" in said


def test_prompts_of_another_assistant_are_refused(tested: _Tested, tmp_path: Path) -> None:
    (tmp_path / "pilot.md").write_text("Fly.\n")
    said = cotune("compare", tmp_path, tested.run, "--config", tested.config)
    assert said.code == 2
    assert f"{tmp_path} has prompts of pilot; this compares those of " in said.err


def test_calls_of_one_agent_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cotune("init", "shop").code == 0
    monkeypatch.chdir(tmp_path / "shop")
    prompts = PromptBundle.load(Path("prompts"))
    every = Path("examples/routing/test.jsonl").read_text().splitlines()
    rules = "".join(f"\n- {json.loads(line)['why']}" for line in every)
    better = prompts["router"].text + f"\n\n## Rules{rules}"
    prompts.with_texts({"router": better}).save(Path("better"))
    config = ["--config", "cotune.yaml", "--model", "scripted", "--agent", "router"]
    found = _json("prompts", "better", *config)
    assert (found["examples"], found["conclusion"]) == (54, "improved")
    assert list(found["criteria"]) == ["right_agent"]
    assert found["flips"][0]["gained"] == ["right_agent"]


def test_a_criterion_may_be_called_score(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(RUBRIC.read_text().replace("id: solved", "id: score"))
    one = side_of(_verdicts(tmp_path, "one", [1.0, 0.0], own), tmp_path)
    other = side_of(_verdicts(tmp_path, "other", [1.0, 1.0], own), tmp_path)
    names = [name for name, _ in compare(one, other).rows()]
    assert names.count("score") == 2
    assert list(compare(one, other).to_dataframe().index) == names
