"""MLflow: one run for the comparison and a child for each stage, written when it is done."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from ...agents.redact import public
from ..config import Tracking
from ..mlflow_access import connected, first_line
from ..stage_runs import write_points, write_stages
from ..tracked_curves import Point
from .arms import Arm
from .record import MagicRecord, NodeRecord

_log = logging.getLogger(__name__)


def log_comparison(
    record: MagicRecord, files: tuple[Path, ...], tracking: Tracking, run_id: str | None
) -> str | None:
    """Write a finished comparison; a known run is written again, which changes nothing.

    Args:
        record: The comparison.
        files: Kept as artifacts.
        tracking: Where MLflow keeps its runs.
        run_id: The run it was written to before.

    Returns:
        The run's id; None when it could not be written, which is logged as a warning: everything
        is in the folder, and the same command writes it again.
    """
    try:
        client = connected(tracking.uri)
        if run_id is None:
            experiment = client.get_experiment_by_name(tracking.experiment)
            home = experiment and experiment.experiment_id
            tags = {"cotune.kind": "magic", "cotune.simulated": str(record.simulated).lower()}
            home = home or client.create_experiment(tracking.experiment)
            run_id = client.create_run(home, tags=tags, run_name=record.name).info.run_id
        write_points(client, run_id, _points(record))
        stages = {f"({node.arm}) {node.node}": list(_stage(node)) for node in record.nodes}
        write_stages(client, run_id, stages)
        for file in files:
            client.log_artifact(run_id, str(file))
        client.set_terminated(run_id, "FINISHED")
    except Exception as error:  # it is paid for: MLflow must not make it fail
        said = public(first_line(error))
        _log.warning(
            "The comparison was not written to MLflow at %s: %s. Nothing is lost: its folder "
            "holds everything, and the same command writes it again.",
            public(tracking.uri),
            said,
        )
        return None
    return run_id


def _points(record: MagicRecord) -> Iterator[Point]:
    for arm in record.arms:
        if arm.overall is not None:
            yield Point(f"held_out/{arm.arm}/overall", arm.overall.mean, 0)
        for domain, interval in arm.domains.items():
            yield Point(f"held_out/{arm.arm}/{domain}", interval.mean, 0)
        held_out = record.pair(Arm.SEED, arm.arm)
        if held_out is not None:
            yield Point(f"gain/{arm.arm}", held_out.overall.difference.mean, 0)


def _stage(node: NodeRecord) -> Iterator[Point]:
    for point in node.curve:
        yield Point("val_score", point.val, point.rollouts)
        yield Point("held_out_score", point.held_out, point.rollouts)
    if node.overfit is not None:
        yield Point("overfit", node.overfit, node.spent)
