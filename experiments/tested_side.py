"""One side of a comparison, kept: rulings on all that it played, and the conversations themselves.

Both are files that `cotune gate`, `cotune show` and `cotune compare` read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..agents.prompts import PromptBundle
from ..optimizer.example import Example
from ..optimizer.rollout import Rollout
from ..optimizer.system_task import SystemTask
from ..rubrics.rubric import Rubric
from ..rubrics.ruling import Ruling, Standing, rule, rule_on_fault
from ..rubrics.ruling_file import write_rulings
from ..rubrics.scoring import score
from ..rubrics.subject import ConversationRecord
from ..rubrics.verdict import Status, Verdict
from ..simulation.trajectory import Trajectory
from ..simulation.trajectory_file import write_trajectories

FOLDER = "test"
SEED, WINNER = "seed", "winner"


@dataclass(frozen=True, slots=True)
class Tested:
    """One rollout of a side.

    Attributes:
        example: What was played.
        prompts: With which prompts.
        repeat: Which repetition it is, from 0.
        rollout: What it was worth.
    """

    example: Any
    prompts: PromptBundle
    repeat: int
    rollout: Rollout


@dataclass(frozen=True, slots=True)
class TestedSide:
    """All rollouts of a side, as files have them.

    Attributes:
        rulings: What was decided of each.
        conversations: In the order of the rulings' numbers; none where an example is a call.
    """

    __test__ = False  # its name makes pytest think that it is one

    rulings: tuple[Ruling, ...]
    conversations: tuple[Trajectory, ...] = ()

    def save(self, folder: Path, name: str) -> None:
        """Write `NAME.verdicts.jsonl` and, of conversations, `NAME.jsonl`."""
        write_rulings(verdicts_path(folder, name), self.rulings)
        if self.conversations:
            write_trajectories(folder / f"{name}.jsonl", self.conversations)


def verdicts_path(folder: Path, name: str) -> Path:
    """Return where a side's rulings are."""
    return folder / f"{name}.verdicts.jsonl"


def tested(
    examples: Sequence[Example], prompts: PromptBundle, rollouts: Iterable[Sequence[Rollout]]
) -> list[Tested]:
    """Return the rollouts of a side; `rollouts` has those of each repeat."""
    return [
        Tested(example, prompts, repeat, rollout)
        for repeat, played in enumerate(rollouts)
        for example, rollout in zip(examples, played, strict=True)
    ]


def side_of_calls(rubric: Rubric, rollouts: Iterable[Tested]) -> TestedSide:
    """Return a side whose examples are single calls of an agent."""
    return TestedSide(tuple(_call(rubric, n, each) for n, each in enumerate(rollouts, start=1)))


def side_of_conversations(task: SystemTask, rollouts: Iterable[Tested]) -> TestedSide:
    """Return a side that played conversations, from the journal.

    What was excluded before it was journaled, or not judged, is left out.
    """
    rulings: list[Ruling] = []
    conversations: list[Trajectory] = []
    for each in rollouts:
        played = task.conversation(each.example, each.prompts, each.repeat)
        if played is None or played.excluded_for is not None:
            continue
        record = ConversationRecord(played.trajectory, each.example)
        ruling = _conversation(task, len(rulings) + 1, record)
        if ruling is not None:
            rulings.append(ruling)
            conversations.append(played.trajectory)
    return TestedSide(tuple(rulings), tuple(conversations))


def _conversation(task: SystemTask, number: int, record: ConversationRecord) -> Ruling | None:
    decisions = task.decisions
    if record.trajectory.fault is not None:
        by, fault = decisions.checked_by, record.trajectory.fault
        return rule_on_fault(number, record.trajectory, task.rubric, by, fault)
    known = decisions.known(decisions.key(record))
    return None if known is None else rule(number, record, task.rubric, known)


def _call(rubric: Rubric, number: int, one: Tested) -> Ruling:
    about = {
        "number": number,
        "scenario": one.example.id,
        "label": {"family": one.example.family, "repeat": one.repeat},
        "rubric": rubric.id,
        "by": {"rubric": rubric.fingerprint},
    }
    if one.rollout.score is None:
        return Ruling(**about, standing=Standing.EXCLUDED, fault=one.rollout.fault)
    verdicts = tuple(_verdict(each.id, one.rollout) for each in rubric.criteria)
    return Ruling(
        **about, standing=Standing.SCORED, score=score(rubric, verdicts), verdicts=verdicts
    )


def _verdict(criterion: str, rollout: Rollout) -> Verdict:
    value = rollout.objectives.get(criterion)
    status = Status.NOT_APPLICABLE if value is None else Status.SCORED
    return Verdict(criterion, value, status, "")
