"""A contrast as the report shows it: both conversations, what failed in each, and who is blamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .contrast import Contrast, Judged
from .run_record import RunRecord


@dataclass(frozen=True, slots=True)
class Failure:
    """A criterion that lost points.

    Attributes:
        criterion: Its name.
        critical: Whether it is critical.
        value: What it got, 0 to 1.
        rationale: What was expected and what was found.
        blamed: Who is at fault, with shares.
    """

    criterion: str
    critical: bool
    value: float
    rationale: str
    blamed: str


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One side of a contrast.

    Attributes:
        title: Whose prompts it was played with.
        score: What it was worth, 0 to 1.
        stop: Why it ended.
        turns: What customer and assistant said.
        failures: What lost points.
    """

    title: str
    score: float
    stop: str
    turns: tuple[tuple[str, str], ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class ShownContrast:
    """One scenario of the test, before and after."""

    scenario: str
    goal: str
    change: float
    sides: tuple[ShownSide, ShownSide]


def shown(contrast: Contrast, record: RunRecord) -> ShownContrast:
    """Return a contrast with everything named."""
    sides = _side("Seed", contrast.before, record), _side("Winner", contrast.after, record)
    return ShownContrast(contrast.scenario, contrast.goal, contrast.change, sides)


def _side(title: str, judged: Judged, record: RunRecord) -> ShownSide:
    trajectory = judged.restored()
    fault = trajectory.fault
    return ShownSide(
        title=title,
        score=judged.score,
        stop=str(trajectory.stop) if fault is None else f"the assistant failed: {fault.message}",
        turns=tuple((turn.message, turn.reply.text) for turn in trajectory.turns),
        failures=tuple(_failures(judged, record)),
    )


def _failures(judged: Judged, record: RunRecord) -> Iterator[Failure]:
    criteria = {one.id: one for one in record.criteria}
    for verdict in judged.scored():
        if verdict.value is not None and verdict.value < 1:
            criterion = criteria[verdict.criterion]
            blamed = ", ".join(
                f"{blame.agent} {blame.share:.0%}"
                for blame in judged.blames
                if blame.criterion == verdict.criterion
            )
            yield Failure(
                criterion.name, criterion.critical, verdict.value, verdict.rationale, blamed
            )
