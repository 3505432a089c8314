"""The two main commands on the simulation, from the command line to the files they leave."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from cotune.agents.models import ModelSettings
from cotune.agents.prompts import PromptBundle
from cotune.experiments import optimization
from cotune.experiments.agent_run import AgentRun
from cotune.experiments.commands.options import Options
from cotune.experiments.config import load_config
from cotune.experiments.run_record import RunRecord

from .command_line import cotune, edit, endpoint, journaled, paid, record, run_folder, same

ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "fake",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": '{"agent": "search"}'},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000},
}
QUICKSTART = ("quickstart", "--model", "scripted", "--no-mlflow")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def runs(here: Path) -> Path:
    return here / "cotune-runs"


@pytest.fixture
def started(here: Path) -> Path:
    """The configuration that `cotune init` writes."""
    assert cotune("init", "start").code == 0
    return here / "start" / "cotune.yaml"


def test_quickstart_says_what_it_is_and_what_came_out(runs: Path) -> None:
    said = cotune(*QUICKSTART)
    assert (said.code, said.err) == (0, "")
    assert said.words.startswith("This is a simulation: a scripted model answers")
    assert "Held-out test, 54 examples" in said.out
    assert "Improved: on 54 unseen examples" in said.words
    assert "95 % interval +" in said.words
    assert said.words.count("This is a simulation") == 2, "before and after"
    report = run_folder(runs) / "report.html"
    assert f"Report: {report.relative_to(runs.parent)}" in said.words
    assert "Simulation: a script answered" in report.read_text()


def test_quickstart_leaves_everything_in_the_run_s_folder(runs: Path) -> None:
    cotune(*QUICKSTART)
    one = record(runs)
    assert one.simulated
    assert one.winner > 0
    assert {path.name for path in run_folder(runs).iterdir()} == {
        "journal.sqlite", "prompts", "report.html", "result.json", "test",
    }  # fmt: skip
    saved = PromptBundle.load(run_folder(runs) / "prompts")
    assert saved.texts() == one.chosen.prompts
    assert journaled(runs) == one.rollouts == paid(one)


def test_the_same_command_again_pays_nothing_and_records_the_same(runs: Path) -> None:
    cotune(*QUICKSTART)
    first = record(runs)
    said = cotune(*QUICKSTART)
    again = record(runs)
    assert paid(first) == first.rollouts
    assert paid(again) == 0
    assert same(again) == same(first)
    assert f"{first.rollouts} rollouts came from the journal, not paid again." in said.words


def test_faults_of_the_provider_are_retried_and_recorded(runs: Path) -> None:
    model = "scripted:grocery?rate_limit=0.02&noise=0.1"
    said = cotune("quickstart", "--model", model, "--no-mlflow")
    assert said.code == 0, said.err
    (usage,) = record(runs).usage
    assert usage.attempts > usage.calls == record(runs).rollouts


def test_json_is_all_that_goes_to_standard_output(runs: Path) -> None:
    said = cotune(*QUICKSTART, "--json")
    assert RunRecord.model_validate(json.loads(said.out)) == record(runs)
    assert "search: at most" in said.err
    assert "Held-out test, 54 examples" in said.err


def test_another_seed_is_another_run(runs: Path) -> None:
    cotune(*QUICKSTART)
    cotune(*QUICKSTART, "--seed", "3")
    one, other = (
        RunRecord.model_validate_json((folder / "result.json").read_text())
        for folder in runs.iterdir()
    )
    assert {one.config["seed"], other.config["seed"]} == {0, 3}
    assert 0 in (one.invocation.replayed, other.invocation.replayed)


def test_a_run_is_tracked_and_its_winner_registered(here: Path, runs: Path) -> None:
    said = cotune("quickstart", "--model", "scripted")
    assert said.code == 0, said.err
    assert "MLflow: mlflow ui --backend-store-uri sqlite:///mlflow.db" in said.words
    cotune("quickstart", "--model", "scripted")
    tracked = _tracked_run(here)
    assert tracked.info.status == "FINISHED"
    assert tracked.info.run_name == record(runs).name
    client = _mlflow(here)
    assert [prompt.name for prompt in client.search_prompts()] == ["cotune-simulation-router"]
    (version,) = client.search_prompt_versions("cotune-simulation-router")
    assert version.template == record(runs).chosen.prompts["router"]
    assert version.tags["cotune.run_id"] == tracked.info.run_id


def test_a_key_goes_to_no_other_provider(started: Path) -> None:
    task = {
        "model": "openai/one",
        "api_base": "http://one.example",
        "api_key_env": "ONE_KEY",
        "price": {"input": 1.0, "output": 1.0},
        "timeout": 9.0,
    }
    edit(started, models={"task": task})
    config = load_config(started)
    other = Options("openai/two", "http://two.example", None, None, track=False, as_json=False)
    assert other.applied_to(config).models.task == ModelSettings(
        model="openai/two", api_base="http://two.example", timeout=9.0
    )
    same_ = replace(other, model=None, api_base=None)
    assert same_.applied_to(config).models.task == ModelSettings.model_validate(task)


def test_a_run_that_breaks_is_not_left_running(
    here: Path, started: Path, mlflow_tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(mlflow_tables, here / "mlflow.db")
    edit(started, tracking={"uri": f"sqlite:///{here}/mlflow.db"})

    def breaks(*arguments: object) -> None:
        raise RuntimeError("a bug at http://me:hunter2@h")

    for owner, step in ((AgentRun, "execute"), (optimization, "render_report")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, step, breaks)
            with pytest.raises(RuntimeError, match="a bug"):
                cotune("optimize", "agent", "router", "--config", started, "--model", "scripted")
        tracked = _tracked_run(here)
        assert tracked.info.status == "FAILED", step
        assert tracked.data.tags["cotune.state"] == "failed: RuntimeError('a bug at http://…@h')"


@pytest.mark.parametrize("limit", [320, 345])
def test_no_more_rollouts_than_the_limit(limit: int, started: Path, runs: Path) -> None:
    edit(started, limits={"rollouts": limit}, out=str(runs))
    said = cotune(*_optimize(started, "search"))
    assert said.code == 0, said.err
    assert record(runs).rollouts <= limit
    assert journaled(runs) <= limit


@pytest.mark.parametrize(("usd", "code"), [(0.02, 1), (0.2, 0)])
def test_no_more_money_than_the_limit_and_the_calls_in_flight(
    usd: float, code: int, started: Path, runs: Path
) -> None:
    a_call, in_flight = 0.001, 4
    with endpoint(200, ANSWER) as served:
        task = {
            "model": "openai/fake",
            "api_base": served.api_base,
            "price": {"input": 1.0, "output": 1.0},
            "concurrency": in_flight,
        }
        limits = {"rollouts": 334, "usd": usd}
        edit(started, models={"task": task}, limits=limits, out=str(runs))
        said = cotune("optimize", "agent", "router", "--config", started, "--no-mlflow")
    assert said.code == code, said.err
    assert f"of ${usd:.4f} are used" in f"{said.words} {said.err}"
    spent = served.requests * a_call
    assert min(usd, 25 * a_call) <= spent <= usd + in_flight * a_call + 1e-9
    if code == 0:
        assert sum(usage.cost for usage in record(runs).usage) == pytest.approx(spent)


def _optimize(config: Path, agent: str) -> tuple[object, ...]:
    options = ("--config", config, "--model", "scripted", "--no-mlflow")
    return ("optimize", "agent", agent, *options)


def _mlflow(folder: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")


def _tracked_run(folder: Path) -> Run:
    """Return the only run that MLflow has, its stages aside."""
    client = _mlflow(folder)
    experiment = client.get_experiment_by_name("cotune")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (run,) = (each for each in runs if "mlflow.parentRunId" not in each.data.tags)
    return run
