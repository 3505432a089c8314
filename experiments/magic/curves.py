"""Curves: held-out score against rollouts, node by node, for the figure and for nothing else.

They are drawn when every decision was made. On the simulated model every accepted candidate is
scored on the held-out scenarios for them; on any other, that would be money spent on a picture,
and only what the test has played is shown: the start and the winner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...optimizer.candidate import Candidate
from ...optimizer.result import RunResult
from ...optimizer.rollout import mean_score
from ..record_parts import Data
from .stage_runner import StageEnd, StageRunner

_NOTHING = 1e-9  # what adding up numbers may leave of a difference of 0


class CurvePoint(Data):
    """One candidate of a node.

    Attributes:
        candidate: Its number; 0 is the start.
        rollouts: Rollouts the node had used when it was decided.
        val: Mean score on val.
        held_out: Mean score on the held-out scenarios.
    """

    candidate: int
    rollouts: int
    val: float
    held_out: float


async def curve_of(end: StageEnd, runner: StageRunner, *, every: bool) -> tuple[CurvePoint, ...]:
    """Return a node's candidates with their held-out scores, in order of appearance.

    Args:
        end: What came of the node.
        runner: Plays what is not in the journal.
        every: Whether candidates that nobody tested are scored for the figure.
    """
    if end.result is None:
        return ()
    shown = end.result.pool.scored() if every else _tested(end.result)
    test, repeats = runner.system.splits.test, runner.system.config.test.repeats
    name, most = f"figure: {end.stage.name}", max(1, len(shown) * len(test) * repeats)
    points = []
    with runner.scoring(name, end.stage.node, end.start, most) as evaluator:
        for candidate in shown:
            played = [await evaluator.evaluate(test, candidate.bundle, n) for n in range(repeats)]
            points.append(_point(candidate, mean_score([one for each in played for one in each])))
    return tuple(point for point in points if point is not None)


def overfits(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Return those chosen by val that are worse on held-out than the start is."""
    return [one for one in chosen_by_val(points) if one.held_out < points[0].held_out - _NOTHING]


def chosen_by_val(points: Iterable[CurvePoint]) -> list[CurvePoint]:
    """Return the points at which val had a new best: what would be shipped from there on."""
    found: list[CurvePoint] = []
    for point in points:
        if not found or point.val > found[-1].val:
            found.append(point)
    return found


def _tested(result: RunResult) -> list[Candidate]:
    if result.held_out is None:
        return []
    return [result.pool.seed, result.winner]


def _point(candidate: Candidate, held_out: float | None) -> CurvePoint | None:
    val = candidate.val_score
    if held_out is None or val is None:
        return None
    return CurvePoint(
        candidate=candidate.number, rollouts=candidate.rollouts, val=val, held_out=held_out
    )
