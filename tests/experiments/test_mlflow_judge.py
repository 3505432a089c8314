"""The judge inside MLflow gives the verdicts that it gives outside."""

from __future__ import annotations

import importlib
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

from cotune.experiments import mlflow_judge as module
from cotune.experiments.mlflow_judge import mlflow_judge

from ..optimizer.judged_talk import annotated, is_kept, talk
from .command_line import cotune
from .test_calibrate_command import calibrate, card_in, model, prepare

__all__ = ["model"]  # the fixture


def traces_of(
    uri: str, numbers: list[int], monkeypatch: pytest.MonkeyPatch
) -> dict[int, list[Any]]:
    """Have MLflow write talks as sessions of one trace, and read them back."""
    import mlflow

    with warnings.catch_warnings(action="ignore"):  # MLflow warns of itself when it loads this
        importlib.import_module("mlflow.pyfunc")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.create_experiment("talks")
    found = {}
    for number in numbers:
        (turn,) = talk(number, is_kept(number)).trajectory.turns
        span = mlflow.start_span_no_context(
            "talk",
            inputs={"message": turn.message},
            metadata={"mlflow.trace.session": f"t-{number}"},
            experiment_id=experiment,
        )
        span.end(outputs={"reply": turn.reply.text})
        mlflow.flush_trace_async_logging()
        found[number] = [client.get_trace(span.trace_id, display=False)]
    return found


def test_the_card_is_tracked_once_and_the_scorer_gives_the_cards_verdicts(
    tmp_path: Path, mlflow_tables: Path, monkeypatch: pytest.MonkeyPatch
):
    from cotune.experiments import calibration_run

    monkeypatch.setattr(module, "open_models", calibration_run.open_models)
    prepare(tmp_path, annotated(80, is_kept))
    uri = f"sqlite:///{shutil.copy(mlflow_tables, tmp_path / 'mlflow.db')}"
    for _ in range(2):
        said = calibrate(tmp_path, "--mlflow", uri)
        assert said.code == 0, said.err
    card, rubric, out = card_in(tmp_path), tmp_path / "r.yaml", tmp_path / "v.jsonl"
    files = (tmp_path / "t.jsonl", "--rubric", rubric, "--out", out)
    assert cotune("judge", *files, "--card", card).code == 0
    outside = [json.loads(line) for line in out.read_text().splitlines()]
    sessions = traces_of(uri, [0, 1, 2, 3], monkeypatch)
    with mlflow_judge(card, str(rubric)) as judge:
        inside: dict[int, Any] = {n: judge(session=traces) for n, traces in sessions.items()}
    for number, feedback in inside.items():
        said = {each.name: each.value for each in feedback}
        assert said["kept"] is bool(outside[number]["verdicts"][0]["value"])
        assert said["kept"] is is_kept(number)
    _check_tracked(uri)


def _check_tracked(uri: str) -> None:
    import mlflow

    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("cotune")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    assert [run.data.tags["cotune.kind"] for run in runs] == ["judge"]
    assert runs[0].data.metrics["kept/kappa/both"] == 1.0
    assert runs[0].data.metrics["overall/kappa/before"] == 0.0
    assert {each.path for each in client.list_artifacts(runs[0].info.run_id)} == {
        "judge-card.html",
        "judge-card.json",
        "prompts",
    }
