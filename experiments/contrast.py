"""Contrasts: the same scenario played with the seed's prompts and with the winner's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import model_validator

from ..agents.errors import UsageError
from ..agents.json_lines import stream_json_lines, write_json_lines
from ..agents.prompts import PromptBundle
from ..optimizer.system_task import SystemTask
from ..rubrics.credit import Blame, credit
from ..rubrics.scoring import score
from ..rubrics.subject import ConversationRecord
from ..rubrics.verdict import Status, Verdict
from ..rubrics.verdict_file import verdict_json
from ..simulation.scenario import Scenario
from ..simulation.trajectory import Trajectory
from ..simulation.trajectory_json import trajectory_from_json, trajectory_to_json
from .record_parts import Data

FILE_NAME = "conversations.jsonl"
MOST = 10
_WHAT = "conversations"


class BlameRecord(Data):
    """Whose fault a failed criterion is; see `Blame`."""

    criterion: str
    agent: str
    share: float
    reason: str
    turn: int | None


class Judged(Data):
    """One conversation with what was said of it.

    Attributes:
        score: What it was worth, 0 to 1.
        trajectory: The conversation, as JSON.
        verdicts: On every criterion, as JSON; none when the assistant broke it off.
        blames: Who is at fault for what failed.
    """

    score: float
    trajectory: dict[str, Any]
    verdicts: tuple[dict[str, Any], ...]
    blames: tuple[BlameRecord, ...]

    @model_validator(mode="after")
    def _can_be_restored(self) -> Judged:
        try:
            self.restored()
            list(self.scored())
        except (UsageError, KeyError, TypeError) as error:
            raise ValueError(f"conversation or verdicts are damaged: {error}") from error
        return self

    def restored(self) -> Trajectory:
        """Return the conversation."""
        return trajectory_from_json(self.trajectory)

    def scored(self) -> Iterator[Verdict]:
        """Yield the verdicts that have a value."""
        for one in self.verdicts:
            if one["status"] == Status.SCORED:
                rest = {"status": Status.SCORED, "evidence": tuple(one["evidence"])}
                yield Verdict(**{**one, **rest})


class Contrast(Data):
    """One test scenario before and after.

    Attributes:
        scenario: Its id.
        family: The situation it belongs to.
        goal: What the customer wanted.
        repeat: Which repetition it is, from 0.
        before: With the seed's prompts.
        after: With the winner's.
    """

    scenario: str
    family: str
    goal: str
    repeat: int
    before: Judged
    after: Judged

    @property
    def change(self) -> float:
        """Score after minus score before."""
        return self.after.score - self.before.score


def most_changed(
    task: SystemTask, winner: PromptBundle, repeats: int, most: int = MOST
) -> tuple[Contrast, ...]:
    """Return the conversations of the test whose score changed most, from the journal.

    Half are better ones and half worse ones, as far as there are any: what a winner lost is not
    to be hidden by what it gained.

    Args:
        task: The task, whose seed is the other side.
        winner: The prompts that were tested.
        repeats: Of each test scenario.
        most: Contrasts at most.
    """
    found = [
        contrast
        for repeat in range(repeats)
        for scenario in task.splits.test
        if (contrast := _contrast(task, scenario, winner, repeat)) is not None and contrast.change
    ]
    found.sort(key=lambda each: (-abs(each.change), each.scenario, each.repeat))
    return both_ways(found, most)


def both_ways(found: Sequence[Contrast], most: int) -> tuple[Contrast, ...]:
    """Return so many of them in the order given, half better and half worse ones if there are."""
    worse = [each for each in found if each.change < 0]
    better = [each for each in found if each.change > 0]
    of_worse = min(len(worse), max(most // 2, most - len(better)))
    kept = [*worse[:of_worse], *better[: most - of_worse]]
    return tuple(each for each in found if each in kept)


def save_contrasts(contrasts: Sequence[Contrast], folder: Path) -> None:
    """Write `conversations.jsonl` into a run's folder."""
    values = (contrast.model_dump(mode="json") for contrast in contrasts)
    write_json_lines(folder / FILE_NAME, values, _WHAT)


def load_contrasts(folder: Path) -> tuple[Contrast, ...]:
    """Read back what `save_contrasts` wrote; nothing where there is no such file.

    Raises:
        UsageError: The file is damaged.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return ()
    return tuple(record.parse(Contrast) for record in stream_json_lines(path, _WHAT))


def _contrast(
    task: SystemTask, scenario: Scenario, winner: PromptBundle, repeat: int
) -> Contrast | None:
    before = _judged(task, scenario, task.seed, repeat)
    after = _judged(task, scenario, winner, repeat)
    if before is None or after is None:
        return None
    return Contrast(
        scenario=scenario.id,
        family=scenario.family,
        goal=scenario.goal,
        repeat=repeat,
        before=before,
        after=after,
    )


def _judged(
    task: SystemTask, scenario: Scenario, prompts: PromptBundle, repeat: int
) -> Judged | None:
    """Return a conversation that was scored; None when a fault excluded it."""
    played = task.conversation(scenario, prompts, repeat)
    if played is None or played.excluded_for is not None:
        return None
    trajectory = played.trajectory
    record = ConversationRecord(trajectory, scenario)
    if trajectory.fault is not None:
        return Judged(score=0.0, trajectory=trajectory_to_json(trajectory), verdicts=(), blames=())
    known = task.decisions.known(task.decisions.key(record))
    objective = None if known is None else score(task.rubric, known.verdicts).objective
    if known is None or objective is None:
        return None
    return Judged(
        score=objective,
        trajectory=trajectory_to_json(trajectory),
        verdicts=tuple(verdict_json(each) for each in known.verdicts),
        blames=tuple(map(_blame, credit(task.rubric, known.verdicts, record))),
    )


def _blame(blame: Blame) -> BlameRecord:
    return BlameRecord(
        criterion=blame.verdict.criterion,
        agent=blame.agent,
        share=blame.share,
        reason=blame.reason,
        turn=blame.turn,
    )
