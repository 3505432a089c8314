"""A tracking server that cannot be reached costs nothing, and gets everything later."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mlflow import MlflowClient

from .command_line import cotune, record
from .system_runs import CONFIG, write_config

_SECONDS_TO_START = 240  # on a busy machine


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def _server(folder: Path, port: int) -> Iterator[None]:
    """Run MLflow's own server on this computer."""
    command = [
        sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
        "--backend-store-uri", f"sqlite:///{folder}/server.db", "--workers", "1",
        "--artifacts-destination", str(folder / "artifacts"),
    ]  # fmt: skip
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait(f"http://127.0.0.1:{port}/health")
            yield
        finally:
            process.terminate()


def _wait(url: str) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):  # noqa: S310
            return
        time.sleep(0.2)
    raise AssertionError("MLflow's server does not start")


def test_a_run_without_its_server_is_written_when_the_server_is_back(
    tmp_path: Path, mlflow_tables: Path
) -> None:
    shutil.copy(mlflow_tables, tmp_path / "server.db")
    uri = f"http://127.0.0.1:{_free_port()}"
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
    with _server(tmp_path, int(uri.rpartition(":")[2])):
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
