"""The stages of a run as child runs in MLflow."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .tracked_curves import Point

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

_PARENT = "mlflow.parentRunId"
_STAGE = "cotune.stage"
_MOST = 100


def begin_stage(client: MlflowClient, parent_id: str, stage: str) -> str:
    """Open the child run of a stage, or set the one that is there running; return its id.

    The stages before it have ended.
    """
    parent = client.get_run(parent_id)
    for name, child in _children(client, parent).items():
        if name != stage and child.info.status == "RUNNING":
            client.set_terminated(child.info.run_id, "FINISHED")
    return _opened(client, parent, stage)


def end_stages(client: MlflowClient, parent_id: str, status: str) -> None:
    """Give the stages that are running the status with which their run ends."""
    for child in _children(client, client.get_run(parent_id)).values():
        if child.info.status == "RUNNING":
            client.set_terminated(child.info.run_id, status)


def write_stages(
    client: MlflowClient, parent_id: str, stages: Mapping[str, list[Point]]
) -> dict[str, str]:
    """Write what is known of finished stages that they do not have yet; return their run ids."""
    parent = client.get_run(parent_id)
    ids = {}
    for stage, points in stages.items():
        ids[stage] = _opened(client, parent, stage)
        write_points(client, ids[stage], points)
        client.set_terminated(ids[stage], "FINISHED")
    return ids


def write_points(client: MlflowClient, run_id: str, points: Iterable[Point]) -> None:
    """Write the points that a run does not have yet."""
    written = points_of(client, run_id)
    add_points(client, run_id, [point for point in points if point not in written])


def add_points(client: MlflowClient, run_id: str, points: Iterable[Point]) -> None:
    """Write points that a run does not have, many in one call; repeats among them once."""
    from mlflow.entities import Metric  # noqa: PLC0415  (imported already)

    now = int(time.time() * 1000)
    metrics = [Metric(name, value, now, step) for name, value, step in dict.fromkeys(points)]
    for start in range(0, len(metrics), _MOST):
        client.log_batch(run_id, metrics=metrics[start : start + _MOST])


def points_of(client: MlflowClient, run_id: str) -> set[Point]:
    """Return the points that a run has."""
    return {
        Point(name, point.value, point.step)
        for name in client.get_run(run_id).data.metrics
        for point in client.get_metric_history(run_id, name)
    }


def _opened(client: MlflowClient, parent: Run, stage: str) -> str:
    child = _children(client, parent).get(stage)
    if child is not None:
        client.update_run(child.info.run_id, status="RUNNING")
        return child.info.run_id
    tags = {_PARENT: parent.info.run_id, _STAGE: stage, "mlflow.source.name": "cotune"}
    run = client.create_run(parent.info.experiment_id, tags=tags, run_name=stage)
    return run.info.run_id


def _children(client: MlflowClient, parent: Run) -> dict[str, Run]:
    """Return the stages that are there, by name."""
    found = client.search_runs(
        [parent.info.experiment_id], f"tags.`{_PARENT}` = '{parent.info.run_id}'"
    )
    return {run.data.tags[_STAGE]: run for run in found if _STAGE in run.data.tags}
