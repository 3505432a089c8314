from __future__ import annotations

import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cotune.agents.errors import CotuneError
from cotune.experiments.chronicle import Moment
from cotune.experiments.live_metrics import LiveMetrics
from cotune.experiments.prompt_registry import registry_name
from cotune.experiments.run_record import RunRecord, record_of
from cotune.experiments.tracking import Tracker
from cotune.optimizer.candidate import Candidate
from cotune.optimizer.result import RunResult
from cotune.rubrics.statistics import Conclusion

from .conftest import HOSTILE, about

if TYPE_CHECKING:
    from mlflow import MlflowClient

REPORT = "<!doctype html><title>report</title>"


@pytest.fixture(scope="module")
def another_store(tmp_path_factory: pytest.TempPathFactory, mlflow_tables: Path) -> Path:
    """A database that has another experiment."""
    path = tmp_path_factory.mktemp("mlflow") / "another.db"
    shutil.copy(mlflow_tables, path)
    Tracker(f"sqlite:///{path}", "another experiment").begin(about())
    return path


@pytest.fixture
def tracker(tmp_path: Path, another_store: Path) -> Tracker:
    shutil.copy(another_store, tmp_path / "mlflow.db")
    return Tracker(f"sqlite:///{tmp_path}/mlflow.db", "prompt tuning")


def _client(tracker: Tracker) -> MlflowClient:
    from mlflow import MlflowClient

    return MlflowClient(tracker.uri)


def _runs(tracker: Tracker) -> list:
    client = _client(tracker)
    experiment = client.get_experiment_by_name(tracker.experiment)
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id]))


def _artifact(tracker: Tracker, run_id: str, path: str) -> str:
    return Path(_client(tracker).download_artifacts(run_id, path)).read_text(encoding="utf-8")


def test_a_begun_run_is_seen_as_running_with_its_params_and_config(tracker: Tracker) -> None:
    run_id = tracker.begin(about(simulated=True))
    run = _client(tracker).get_run(run_id)
    assert run.info.status == "RUNNING"
    assert run.info.run_name == "first-run"
    assert run.data.params["limits.rollouts"] == "320"
    assert run.data.params["version.gepa"] == "0.1.4"
    assert run.data.tags["cotune.simulated"] == "true"
    assert "rollouts: 320" in _artifact(tracker, run_id, "config.yaml")


def test_long_values_are_no_params(tracker: Tracker) -> None:
    run_id = tracker.begin(about(config={"prompt": "x" * 5000, "seed": 1}))
    assert set(_client(tracker).get_run(run_id).data.params) >= {"seed"}
    assert "prompt" not in _client(tracker).get_run(run_id).data.params
    assert "x" * 5000 in _artifact(tracker, run_id, "config.yaml")


def test_artifacts_stay_beside_the_database(tracker: Tracker, tmp_path: Path) -> None:
    tracker.begin(about())
    assert list((tmp_path / "mlartifacts" / "prompt-tuning").rglob("config.yaml"))


def test_a_finished_run_has_everything(tracker: Tracker, record: RunRecord) -> None:
    run_id = tracker.begin(about())
    assert tracker.log(record, REPORT, run_id)
    client = _client(tracker)
    run = client.get_run(run_id)
    assert run.info.status == "FINISHED"
    assert run.data.tags["cotune.conclusion"] == "improved"
    assert run.data.tags["cotune.winner_fingerprint"] == record.chosen.fingerprint
    assert record.held_out is not None
    difference = record.held_out.overall.difference
    assert run.data.metrics["held_out/overall/difference"] == difference.mean
    assert run.data.metrics["held_out/overall/low"] == difference.low
    assert run.data.metrics["held_out/right_agent/winner"] == 1.0
    assert run.data.metrics["calls/task"] == record.rollouts
    scored = [one for one in record.candidates if one.val_score is not None]
    history = client.get_metric_history(run_id, "val_score")
    assert [(point.step, point.value) for point in history] == [
        (one.rollouts, one.val_score) for one in scored
    ]
    best = [point.value for point in client.get_metric_history(run_id, "val_best")]
    assert best == sorted(best)


def test_tables_and_files_can_be_read_back(tracker: Tracker, record: RunRecord) -> None:
    run_id = tracker.begin(about())
    tracker.log(record, REPORT, run_id)
    candidates = json.loads(_artifact(tracker, run_id, "candidates.json"))
    rows = [dict(zip(candidates["columns"], row, strict=True)) for row in candidates["data"]]
    assert [row["number"] for row in rows] == [one.number for one in record.candidates]
    assert all(row["reason"] for row in rows)
    assert rows[1]["parent"] == 0
    front = json.loads(_artifact(tracker, run_id, "pareto_front.json"))
    assert record.winner in [row[front["columns"].index("number")] for row in front["data"]]
    ledger = json.loads(_artifact(tracker, run_id, "ledger.json"))
    assert ledger["columns"][-1] == "replayed"
    assert HOSTILE in _artifact(tracker, run_id, "prompts/seed/router.md")
    assert "+## Rules" in _artifact(tracker, run_id, "prompts/changes.diff")
    assert _artifact(tracker, run_id, "report.html") == REPORT
    assert RunRecord.model_validate_json(_artifact(tracker, run_id, "result.json")) == record
    table = _client(tracker).load_table(
        _client(tracker).get_run(run_id).info.experiment_id, "held_out.json", [run_id]
    )
    assert list(table["score"]) == ["overall", "harmless", "right_agent"]


def test_the_winner_is_registered_and_linked(tracker: Tracker, record: RunRecord) -> None:
    run_id = tracker.begin(about())
    tracker.log(record, REPORT, run_id)
    client = _client(tracker)
    prompt = client.load_prompt("prompts:/cotune-routing-router/1")
    assert prompt is not None
    assert prompt.template == record.chosen.prompts["router"]
    assert prompt.tags["cotune.run_id"] == run_id
    tags = client.get_run(run_id).data.tags
    assert tags["cotune.prompt.router"] == "prompts:/cotune-routing-router/1"
    assert json.loads(tags["mlflow.linkedPrompts"]) == [
        {"name": "cotune-routing-router", "version": "1"}
    ]


def test_logging_again_changes_nothing(tracker: Tracker, record: RunRecord) -> None:
    run_id = tracker.begin(about())
    tracker.log(record, REPORT, run_id)
    client = _client(tracker)
    first = client.get_run(run_id)
    assert tracker.begin(about(), run_id) == run_id
    assert client.get_run(run_id).info.status == "RUNNING"
    assert tracker.log(record, REPORT, run_id)
    second = client.get_run(run_id)
    assert second.info.status == "FINISHED"
    assert second.data.tags == first.data.tags
    assert second.data.metrics == first.data.metrics
    for name in ("val_score", "rollouts", "held_out/overall/difference"):
        history = client.get_metric_history(run_id, name)
        assert len({(point.step, point.value) for point in history}) == len(history)
    candidates = json.loads(_artifact(tracker, run_id, "candidates.json"))
    assert len(candidates["data"]) == len(record.candidates)
    assert len(client.search_prompt_versions("cotune-routing-router")) == 1
    assert len(_runs(tracker)) == 1


def test_another_run_with_the_same_winner_links_the_same_version(
    tracker: Tracker, record: RunRecord
) -> None:
    run_ids = [tracker.begin(about(name=name)) for name in ("one", "two")]
    for run_id in run_ids:
        tracker.log(record, REPORT, run_id)
    client = _client(tracker)
    (version,) = client.search_prompt_versions("cotune-routing-router")
    assert version.tags["cotune.run_id"] == run_ids[1]
    assert "mlflow.linkedPrompts" in client.get_run(run_ids[1]).data.tags


def test_when_the_seed_stays_nothing_is_registered(tracker: Tracker, noise: RunResult) -> None:
    run_id = tracker.begin(about())
    assert tracker.log(record_of(noise, about()), REPORT, run_id)
    client = _client(tracker)
    assert client.search_prompts() == []
    run = client.get_run(run_id)
    assert run.data.tags["cotune.conclusion"] == "no_evidence"
    assert "held_out/overall/difference" not in run.data.metrics


@pytest.mark.parametrize(
    "changes",
    [
        {"conclusion": Conclusion.WORSE},
        {"conclusion": Conclusion.NO_EVIDENCE},
        {"held_out": None},
    ],
)
def test_what_is_not_better_or_was_not_tested_is_not_registered(
    changes: dict, tracker: Tracker, record: RunRecord
) -> None:
    run_id = tracker.begin(about())
    assert tracker.log(record.model_copy(update=changes), REPORT, run_id)
    assert _client(tracker).search_prompts() == []
    assert "mlflow.linkedPrompts" not in _client(tracker).get_run(run_id).data.tags


def test_what_is_better_but_less_safe_is_not_registered(
    tracker: Tracker, record: RunRecord
) -> None:
    assert record.held_out is not None
    unsafe = replace(record.held_out, deployable=False, safety=("'harmless' failed",))
    run_id = tracker.begin(about())
    assert tracker.log(record.model_copy(update={"held_out": unsafe}), REPORT, run_id)
    assert _client(tracker).search_prompts() == []
    run = _client(tracker).get_run(run_id)
    assert run.data.metrics["held_out/deployable"] == 0
    assert "Not deployable" in run.data.tags["mlflow.note.content"]


def test_the_winner_can_be_loaded_by_its_alias(tracker: Tracker, record: RunRecord) -> None:
    tracker.log(record, REPORT, tracker.begin(about()))
    prompt = _client(tracker).load_prompt("prompts:/cotune-routing-router@candidate")
    assert prompt is not None
    assert prompt.template == record.chosen.prompts["router"]
    assert prompt.tags["cotune.bundle"] == record.chosen.fingerprint


def _history(client: MlflowClient, run_id: str, name: str) -> list[tuple[float | None, int]]:
    return [(point.value, point.step) for point in client.get_metric_history(run_id, name)]


def _seen(live: LiveMetrics, seed: Candidate) -> None:
    live.told(Moment("search", None, 0, 0, 0.0, {}), None)
    live.told(Moment("search", 0, 12, 900, 0.031, {"judge": 1}), seed)
    live.close()


def test_a_run_is_seen_while_it_goes_on_and_resumed_without_repeats(
    tracker: Tracker, improved: RunResult
) -> None:
    run_id = tracker.begin(about())
    seed = improved.pool.seed
    for _ in range(2):
        _seen(LiveMetrics(tracker.uri, run_id), seed)
    client = _client(tracker)
    for name, value, step in (
        ("val_best", seed.val_score, seed.rollouts),
        ("val_best_by_cent", seed.val_score, 3),
        ("spent/usd", 0.031, 12),
        ("faults/judge", 1, 12),
        ("front_size", 1, seed.rollouts),
    ):
        assert _history(client, run_id, name).count((value, step)) == 1, name
    (stage,) = (run for run in _runs(tracker) if run.info.run_id != run_id)
    assert (stage.info.run_name, stage.info.status) == ("search", "RUNNING")
    assert stage.data.tags["mlflow.parentRunId"] == run_id
    tracker.pause(run_id, "stopped by the user")
    assert client.get_run(stage.info.run_id).info.status == "KILLED"


def test_live_metrics_that_cannot_be_written_disturb_nobody(improved: RunResult) -> None:
    _seen(LiveMetrics("http://127.0.0.1:9", "0" * 32), improved.pool.seed)


def test_a_simulation_is_registered_apart(tracker: Tracker, record: RunRecord) -> None:
    for simulated in (True, False):
        run_id = tracker.begin(about(simulated=simulated))
        tracker.log(record.model_copy(update={"simulated": simulated}), REPORT, run_id)
    registered = {prompt.name for prompt in _client(tracker).search_prompts()}
    assert registered == {"cotune-simulation-routing-router", "cotune-routing-router"}


def test_other_params_open_another_run(tracker: Tracker) -> None:
    first = tracker.begin(about())
    second = tracker.begin(about(config={"seed": 7}), first)
    assert second != first
    assert _client(tracker).get_run(first).info.status == "KILLED"


@pytest.mark.parametrize("known", ["0" * 32, "deleted"])
def test_a_run_that_is_gone_is_opened_anew(tracker: Tracker, known: str) -> None:
    if known == "deleted":
        known = tracker.begin(about())
        _client(tracker).delete_run(known)
    assert tracker.begin(about(), known) != known


def test_a_paused_and_a_failed_run_say_so(tracker: Tracker) -> None:
    run_id = tracker.begin(about())
    tracker.pause(run_id, "too many faults")
    run = _client(tracker).get_run(run_id)
    assert run.info.status == "KILLED"
    assert run.data.tags["cotune.state"] == "paused: too many faults"
    assert tracker.begin(about(), run_id) == run_id
    tracker.fail(run_id, "the model at http://me:hunter2@h?key=hunter2 is gone")
    run = _client(tracker).get_run(run_id)
    assert run.info.status == "FAILED"
    assert run.data.tags["cotune.state"] == "failed: the model at http://…@h?key=… is gone"


def _in_no_folder(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/nowhere/mlflow.db"


def _not_a_database(tmp_path: Path) -> str:
    (tmp_path / "mlflow.db").write_text("this is a text, and it is longer than a header" * 100)
    return f"sqlite:///{tmp_path}/mlflow.db"


def _dead_server(tmp_path: Path) -> str:
    return "http://someone:secret@127.0.0.1:9"


@pytest.mark.parametrize("uri_in", [_in_no_folder, _not_a_database, _dead_server])
def test_an_unusable_store_is_one_clear_error_before_the_run(
    tmp_path: Path, uri_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(CotuneError) as caught:
        Tracker(uri_in(tmp_path)).begin(about())
    message = str(caught.value)
    assert "cannot be used" in message
    assert "--no-mlflow" in message
    assert "secret" not in message
    assert "\n" not in message


def test_a_store_that_fails_at_the_end_is_a_warning(
    tracker: Tracker, record: RunRecord, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = tracker.begin(about())
    gone = replace(tracker, uri=f"sqlite:///{tmp_path}/nowhere/mlflow.db")
    with caplog.at_level(logging.WARNING):
        assert not gone.log(record, REPORT, run_id)
    assert "Nothing is lost" in caplog.text


@pytest.mark.parametrize(
    ("task", "agent", "name"),
    [
        ("grocery", "item_selector", "grocery-item_selector"),
        ("router", "router", "router"),
        ("my shop/1", "a b", "my-shop-1-a-b"),
    ],
)
def test_names_in_the_registry_keep_to_what_mlflow_allows(
    task: str, agent: str, name: str, record: RunRecord
) -> None:
    real = record.model_copy(update={"task": task})
    simulated = real.model_copy(update={"simulated": True})
    assert registry_name(real, agent) == f"cotune-{name}"
    assert registry_name(simulated, agent) == f"cotune-simulation-{name}"
