"""What MLflow is told about the stages of a run, as plain values."""

from __future__ import annotations

from collections.abc import Iterator

from .record_spending import StageRecord
from .run_record import RunRecord
from .tracked_curves import Curves, Decided, Point
from .tracked_values import comparisons_of, points_compared


def stage_points(record: RunRecord) -> dict[str, list[Point]]:
    """Return the metrics of each stage by its name, in the order in which they ran."""
    return {
        stage.name: [*_used(stage), *_PARTS.get(stage.name, _nothing)(record)]
        for stage in record.stages
    }


def _used(stage: StageRecord) -> Iterator[Point]:
    yield Point("planned", stage.planned, stage.rollouts)
    yield Point("rollouts", stage.rollouts, stage.rollouts)
    for origin, count in stage.faults.items():
        yield Point(f"faults/{origin}", count, stage.rollouts)


def _search(record: RunRecord) -> Iterator[Point]:
    curves = Curves()
    for one in record.candidates:
        yield from curves.candidate(Decided.read(one), 0.0)


def _selection(record: RunRecord) -> Iterator[Point]:
    """Yield the finalists' scores; the step is the candidate's number."""
    for one in record.finalists:
        if one.fresh is not None:
            yield Point("finalist/fresh", one.fresh, one.number)
        yield Point("finalist/score", one.score, one.number)
        yield Point("finalist/gain", one.gain, one.number)
        yield Point("finalist/shrunk", one.shrunk, one.number)


def _test(record: RunRecord) -> Iterator[Point]:
    for name, comparison in comparisons_of(record):
        for metric, value in points_compared(name, comparison):
            yield Point(metric, value, comparison.difference.n)


def _nothing(record: RunRecord) -> Iterator[Point]:
    yield from ()


_PARTS = {"search": _search, "selection": _selection, "test": _test}
