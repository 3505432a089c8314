"""A tracking server that cannot be reached costs nothing, and gets everything later."""

from __future__ import annotations

import shutil
from pathlib import Path

from mlflow import MlflowClient

from .command_line import cotune, record
from .mlflow_server import free_port, mlflow_server
from .system_runs import CONFIG, write_config


def test_a_run_without_its_server_is_written_when_the_server_is_back(
    tmp_path: Path, mlflow_tables: Path
) -> None:
    shutil.copy(mlflow_tables, tmp_path / "server.db")
    uri = f"http://127.0.0.1:{free_port()}"
    small = {**CONFIG["system"], "use": {"train": 8, "val": 4, "test": 12}}
    config = write_config(tmp_path, system=small, tracking={"uri": uri}, limits={"rollouts": 70})
    out = tmp_path / "cotune-runs"
    said = cotune("optimize", "system", "--config", config)
    assert said.code == 0, said.err
    assert "cannot be used" in said.words
    assert "The run goes on" in said.words
    one = record(out)
    assert f"cotune runs sync {one.name}" in said.words
    assert "MLflow: http" not in said.words
    again = cotune("runs", "sync", one.name, "--out", out)
    assert again.code == 1, "the server is still away"
    assert again.err.count("\n") == 1
    with mlflow_server(tmp_path, int(uri.rpartition(":")[2])):
        synced = cotune("runs", "sync", "--out", out)
        assert synced.code == 0, synced.err
        assert synced.out == f"{one.name}: written to MLflow at {uri}.\n"
        assert cotune("runs", "sync", "--out", out).out == f"{one.name}: MLflow has it.\n"
        _check(MlflowClient(uri), one.name, bool(one.deployable))


def _check(client: MlflowClient, name: str, deployable: bool) -> None:
    experiment = client.get_experiment_by_name("cotune")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (parent,) = (run for run in runs if "mlflow.parentRunId" not in run.data.tags)
    assert parent.info.run_name == name
    assert parent.info.status == "FINISHED"
    children = [run for run in runs if run is not parent]
    assert {run.info.run_name for run in children} == {"search", "selection", "test"}
    assert {run.data.tags["mlflow.parentRunId"] for run in children} == {parent.info.run_id}
    traces = client.search_traces(locations=[experiment.experiment_id], max_results=50)
    assert len(traces) % 2 == 0
    assert all(trace.info.assessments for trace in traces)
    assert bool(client.search_prompts()) == deployable


def test_what_is_no_run_cannot_be_written(tmp_path: Path) -> None:
    assert cotune("runs", "sync", "--out", tmp_path).code == 2
    assert cotune("runs", "sync", "nothing", "--out", tmp_path).code == 2
