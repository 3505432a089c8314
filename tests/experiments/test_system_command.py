"""`cotune optimize system` on the simulation, from the command line to the files it leaves."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.grocery.assistant import PROMPTS
from cotune.agents.prompts import PromptBundle
from cotune.experiments.commands.starter import SMALL_SYSTEM_STARTER, SYSTEM_STARTER
from cotune.experiments.config import load_config
from cotune.experiments.contrast import load_contrasts
from cotune.experiments.run_record import RunRecord
from cotune.optimizer.candidate import Status
from cotune.optimizer.plan import make_plan

from .command_line import Said, cotune, journaled, paid, record, run_folder, same
from .system_runs import CONFIG, SMALL, typed, write_config


class _Once:
    """The run that most tests look at."""

    def __init__(self, folder: Path) -> None:
        noise = {"examples": 4, "repeats": 2}
        self.config = write_config(folder, noise=noise)
        self.runs = folder / "cotune-runs"
        self.said = cotune(*typed(self.config))
        assert self.said.code == 0, self.said.err
        self.record = record(self.runs)
        self.folder = run_folder(self.runs)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> _Once:
    return _Once(tmp_path_factory.mktemp("once"))


def _refused(said: Said) -> str:
    assert said.code == 2, said.err
    assert "Traceback" not in said.err
    assert said.err.count("\n") == 1
    return said.err


def test_it_says_what_the_budget_buys_and_what_the_test_could_see(once: _Once) -> None:
    words = once.said.words
    assert words.startswith("This is a simulation")
    assert "All 7 agents of 'grocery'" in words
    assert "24 train / 8 val / 16 test examples" in words
    assert "The budget of 150 rollouts buys: 8 to measure the noise first" in words
    assert "The held-out test would see a true difference of" in words
    assert words.index("would see a true difference") < words.index("search: at most")


def test_it_improves_and_says_so_with_an_interval(once: _Once) -> None:
    one = once.record
    assert one.winner > 0
    assert one.held_out is not None
    assert one.held_out.overall.difference.low is not None
    assert "95 % interval" in once.said.words
    assert "The winner changes the prompts of " in once.said.words
    assert "Cost: task " in once.said.words
    assert "Shopping Execution" in once.said.out


def test_a_run_leaves_everything_in_its_folder(once: _Once) -> None:
    assert {path.name for path in once.folder.iterdir()} == {
        "conversations.jsonl", "journal.sqlite", "prompts", "report.html", "result.json", "test",
    }  # fmt: skip
    saved = PromptBundle.load(once.folder / "prompts")
    assert saved.texts() == once.record.chosen.prompts
    assert len(saved) == 7
    assert journaled(once.runs) == once.record.rollouts <= 150


def test_the_record_has_what_each_stage_used(once: _Once) -> None:
    stages = {stage.name: stage for stage in once.record.stages}
    assert list(stages) == ["noise", "search", "selection", "test", "single changes"]
    assert sum(stage.rollouts for stage in stages.values()) == once.record.rollouts
    assert stages["test"].rollouts == 32
    assert all(stage.rollouts <= stage.planned for stage in stages.values())


def test_the_most_changed_conversations_are_kept_with_verdicts_and_blame(once: _Once) -> None:
    contrasts = load_contrasts(once.folder)
    changes = [abs(contrast.change) for contrast in contrasts]
    assert changes == sorted(changes, reverse=True)
    assert 0 < len(contrasts) <= 10
    worst = min((side for one in contrasts for side in (one.before, one.after)),
                key=lambda side: side.score)  # fmt: skip
    assert worst.blames
    assert any(verdict.value == 0 for verdict in worst.scored())
    assert {blame.agent for blame in worst.blames} <= set(once.record.chosen.prompts)


def test_the_report_shows_diffs_by_agent_domains_and_conversations(once: _Once) -> None:
    page = (once.folder / "report.html").read_text()
    changed = [
        agent
        for agent, text in once.record.chosen.prompts.items()
        if text != once.record.seed.prompts[agent]
    ]
    assert changed
    for agent in changed:
        assert f"<h3>{agent}</h3>" in page
    assert "Conversations of the test that changed most" in page
    assert "By criterion" in page
    assert "Safety &amp; Compliance" in page
    for place in ("scenarios", "pairs", "lineage"):
        assert f'<div id="{place}">' in page
    assert load_contrasts(once.folder)[0].scenario in page


def test_the_same_command_again_pays_nothing_and_records_the_same(once: _Once) -> None:
    said = cotune(*typed(once.config))
    again = record(once.runs)
    assert said.code == 0
    assert paid(again) == 0
    assert same(again) == same(once.record)
    assert "conversations came from the journal, not paid again." in said.words


def test_json_is_all_that_goes_to_standard_output(once: _Once) -> None:
    said = cotune(*typed(once.config, "--json"))
    printed = RunRecord.model_validate(json.loads(said.out))
    assert said.code == 0
    assert printed == record(once.runs)
    assert printed.candidates == once.record.candidates


def test_a_run_goes_on_from_another_s_winner(once: _Once, tmp_path: Path) -> None:
    config = write_config(tmp_path, **SMALL)
    said = cotune(*typed(config, "--from", once.folder))
    assert said.code == 0, said.err
    one = record(tmp_path / "cotune-runs")
    assert one.seed.prompts == once.record.chosen.prompts
    (start,) = one.started_from
    assert start.startswith(f"{once.record.name}: the prompts of ")
    assert f"Starts from {start}" in said.words
    assert start in (run_folder(tmp_path / "cotune-runs") / "report.html").read_text()


def test_sub_agents_winners_are_combined(once: _Once, tmp_path: Path) -> None:
    folders = []
    for agent in ("router", "search"):
        prompts = PromptBundle.load(PROMPTS)
        texts = {agent: f"{prompts[agent].text}\n\nBe exact."}
        folder = tmp_path / f"{agent}-run"
        folder.mkdir()
        _won(once.record, f"{agent}-run", texts).save(folder)
        folders.append(folder)
    config = write_config(tmp_path, **SMALL)
    said = cotune(*typed(config, "--from", folders[0], "--from", folders[1]))
    assert said.code == 0, said.err
    seed = record(tmp_path / "cotune-runs").seed.prompts
    assert all(seed[agent].endswith("Be exact.") for agent in ("router", "search"))
    _won(once.record, "another", {"router": "Route well."}).save(folders[1])
    said = cotune(*typed(config, "--from", folders[0], "--from", folders[1]))
    assert "both changed the prompt of 'router'" in _refused(said)


def _won(like: RunRecord, name: str, texts: dict[str, str]) -> RunRecord:
    """Return the record of a run whose winner has these prompts alone."""
    chosen = like.chosen.model_copy(update={"prompts": texts})
    candidates = [*like.candidates]
    candidates[like.winner] = chosen
    return like.model_copy(update={"name": name, "candidates": tuple(candidates)})


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_what_is_no_run_cannot_be_started_from(folder: str, tmp_path: Path) -> None:
    said = cotune(*typed(write_config(tmp_path), "--from", tmp_path / folder))
    assert "is no finished run" in _refused(said)


def test_the_command_line_limits_the_budget(tmp_path: Path) -> None:
    config = write_config(tmp_path, limits={})
    assert "has no limits.rollouts" in _refused(cotune(*typed(config)))
    said = _refused(cotune(*typed(config, "--rollouts", 60)))
    assert "limits.rollouts is 60, which does not buy one candidate" in said
    assert "Allow at least" in said


@pytest.mark.parametrize("answer", ["n", "y"])
def test_a_person_is_asked_before_the_budget_is_spent(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    config = write_config(tmp_path, **SMALL)
    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    said = cotune(*typed(config))
    assert "Go on?" in said.err
    done = (run_folder(tmp_path / "cotune-runs") / "result.json").exists()
    if answer == "n":
        assert said.code == 1
        assert "The run was not started" in said.err
        assert not done
        monkeypatch.setattr("sys.stdin", Terminal())
        said = cotune(*typed(config, "--yes"))
        assert "Go on?" not in said.err
        done = True
    assert (said.code, done) == (0, True)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rubric": "grocery_routing"}, "system.rubric: 'grocery_routing' scores single calls"),
        ({"rubric": "missing.yaml"}, "There is no rubric"),
        ({"use": {"train": 0}}, "system.use.train"),
        ({"split": {"shares": {"train": 0.9, "val": 0.9, "test": 0.1}}}, "add up to 1.9"),
        ({"scenarios": {"train": "a.jsonl", "val": "b.jsonl"}, "split": None}, "test"),
        (
            {"scenarios": {"train": "a.jsonl", "val": "b.jsonl", "test": "c.jsonl"}},
            "leave out one of 'split' and 'scenarios'",
        ),
        (
            {"scenarios": {"train": "a.jsonl", "val": "b.jsonl", "test": "c.jsonl"}, "split": None},
            "a.jsonl",
        ),
        ({"judge": {"strategy": "word", "repeats": 3}}, "system.judge.repeats"),
        ({"judge": {"strategy": "oracle"}}, "system.judge.strategy"),
        ({"rubrik": "magic"}, "rubrik"),
    ],
)
def test_a_wrong_configuration_is_refused_by_field(
    changes: dict[str, Any], told: str, tmp_path: Path
) -> None:
    config = write_config(tmp_path, system={**CONFIG["system"], **changes})
    assert told in _refused(cotune(*typed(config)))
    assert not (tmp_path / "cotune-runs").exists()


def test_overlapping_scenario_files_are_refused(tmp_path: Path) -> None:
    cotune("scenarios", "split", "grocery", "--out", tmp_path / "split")
    files = {name: f"split/{name}.jsonl" for name in ("train", "val", "test")}
    twice = {**files, "test": "split/val.jsonl"}
    config = write_config(tmp_path, system={"scenarios": twice})
    assert "The splits overlap" in _refused(cotune(*typed(config)))
    small = {"train": 12, "val": 6, "test": 6}
    config = write_config(tmp_path, system={"scenarios": files, "use": small})
    assert cotune(*typed(config, "--rollouts", 70)).code == 0


def test_a_judge_and_a_writer_are_models_of_their_own(tmp_path: Path) -> None:
    scripted = {"model": "scripted:grocery"}
    models = dict.fromkeys(("task", "judge", "reflection"), scripted)
    config = write_config(tmp_path, **SMALL, models=models, proposer="reflection")
    said = cotune(*typed(config))
    assert said.code == 0, said.err
    one = record(tmp_path / "cotune-runs")
    assert {"task", "judge", "reflection"} <= {usage.role for usage in one.usage}
    assert one.judged_by == "scripted:grocery"


def test_faults_of_the_provider_cost_no_score(tmp_path: Path) -> None:
    task = {"model": "scripted:grocery?rate_limit=0.02"}
    config = write_config(tmp_path, **SMALL, models={"task": task})
    said = cotune(*typed(config))
    assert said.code == 0, said.err
    one = record(tmp_path / "cotune-runs")
    assert sum(usage.attempts for usage in one.usage) > sum(usage.calls for usage in one.usage)
    assert one.seed.status is Status.SEED
    assert not one.faults


@pytest.mark.parametrize("starter", [SYSTEM_STARTER, SMALL_SYSTEM_STARTER])
def test_the_configurations_to_start_from_buy_candidates(starter: Path) -> None:
    config = load_config(starter, base=PROMPTS.parent)
    plan = make_plan(config, config.system.load_splits(config.simulation.scenarios))
    assert plan.candidates >= 2


def test_quickstart_knows_two_scopes() -> None:
    assert "allowed: agent, system" in _refused(cotune("quickstart", "--scope", "world"))
