"""Sending conversations to MLflow, where people say what they think of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..agents.errors import UsageError
from ..rubrics.label_need import labels_needed
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..rubrics.ruling import Ruling
from ..rubrics.ruling_file import read_rulings
from ..simulation.trajectory_file import read_trajectories
from .annotation_choice import Candidate, candidates, in_order
from .annotation_place import ReviewPlace
from .annotation_questions import Question, questions
from .annotation_queues import Queue, fill_queue
from .annotation_traces import write_turns
from .calibration_data import Dealing

ENOUGH = round(labels_needed(Dealing().width) / Dealing().shares.test)
"""How many conversations calibration would like to have, tuning and test together."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be annotated, and by whom.

    Attributes:
        count: Conversations at most.
        criteria: Ids of the criteria to ask about; all that a judge decides when empty.
        annotators: Who is asked, by the names they log in with.
        seed: Decides among conversations that are equally worth it.
    """

    count: int
    criteria: Sequence[str]
    annotators: Sequence[str]
    seed: int


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent.

    Attributes:
        experiment_id: Where to.
        chosen: Conversations that were chosen.
        among: Of how many.
        new: Those of the chosen that were not there before.
        doubtful: Those of the chosen about which a judge, or repeats, are not of one mind.
        queues: Where people find them; empty when the server has no review queues.
    """

    experiment_id: str
    chosen: int
    among: int
    new: int
    doubtful: int
    queues: tuple[Queue, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def send(
    trajectories: Path, rubric: str, verdicts: Path | None, wanted: Wanted, place: ReviewPlace
) -> Sent:
    """Choose conversations and send them; what is there is not sent again.

    Args:
        trajectories: The conversations.
        rubric: A pack or a file.
        verdicts: What `cotune judge` wrote of them.
        wanted: What is to be annotated, and by whom.
        place: Where.

    Raises:
        UsageError: A file cannot be used, or there is nothing to send.
        CotuneError: MLflow cannot be used.
    """
    known = load_rubric(rubric)
    asked = questions(known, wanted.criteria)
    rulings = () if verdicts is None else _rulings(verdicts, known)
    found = candidates(read_trajectories(trajectories), rulings)
    if not found:
        raise UsageError(f"{trajectories} has no conversation that came to its end.")
    chosen = in_order(found, wanted.seed)[: wanted.count]
    with place.opened() as experiment_id:
        there = place.sent()
        known_traces = [there.of(each.name, each.trajectory) for each in chosen]
        traces = [
            write_turns(experiment_id, each, before)
            for each, before in zip(chosen, known_traces, strict=True)
        ]
        queues = tuple(_queues(experiment_id, known.id, wanted.annotators, asked, traces))
    new = sum(len(now) > len(before) for now, before in zip(traces, known_traces, strict=True))
    return Sent(experiment_id, len(chosen), len(found), new, _doubtful(chosen), queues)


def _queues(
    experiment_id: str,
    rubric: str,
    annotators: Sequence[str],
    asked: Sequence[Question],
    traces: Sequence[Sequence[str]],
) -> Iterator[Queue]:
    """Fill the queues of everybody: of whole conversations by their last turns, and of turns."""
    lasts = [of_one[-1] for of_one in traces]
    every = [trace for of_one in traces for trace in of_one]
    for annotator in annotators:
        for per_turn, items in ((False, lasts), (True, every)):
            about = [each for each in asked if each.per_turn is per_turn]
            if about:
                queue = fill_queue(experiment_id, rubric, annotator, about, items)
                if queue is None:
                    return
                yield queue


def _rulings(verdicts: Path, rubric: Rubric) -> Iterator[Ruling]:
    for ruling in read_rulings(verdicts):
        if ruling.rubric != rubric.id:
            raise UsageError(
                f"{verdicts} has verdicts by the rubric '{ruling.rubric}', and people are to be "
                f"asked by '{rubric.id}'. Judge the conversations by the same rubric."
            )
        yield ruling


def _doubtful(chosen: Sequence[Candidate]) -> int:
    return sum(each.doubt > 0.0 for each in chosen)
