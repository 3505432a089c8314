"""Fetching what people said in MLflow of conversations that were sent there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..rubrics.annotation import Annotation
from ..rubrics.annotation_intake import Intake
from ..rubrics.annotation_sources.format import Format
from ..rubrics.annotation_sources.mlflow_assessments import read_mlflow
from ..rubrics.conversation_name import KnownConversations, conversation_name
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..simulation.trajectory_file import read_trajectories
from .annotation_import import Brought, written
from .annotation_place import ReviewPlace
from .annotation_traces import with_traces


def pull(place: ReviewPlace, trajectories: Path, rubric: str, out: Path) -> Brought:
    """Write all that people said so far, under the names that the trajectories have.

    Args:
        place: Where the conversations were sent to.
        trajectories: The conversations.
        rubric: The pack or file by which people were asked.
        out: The annotations file to write; one that is there is replaced.

    Raises:
        UsageError: A file cannot be read, or there is no such place.
        CotuneError: `out` cannot be written, or MLflow cannot be used.
    """
    known = load_rubric(rubric)
    place.require()
    sent = place.sent()
    turns: dict[str, int] = {}
    conversations = []
    for each in read_trajectories(trajectories):
        name = conversation_name(each.scenario, each.metadata)
        turns[name] = len(each.turns)
        conversations.append(with_traces(each, sent.of(name, each)))
    intake = Intake(Format(), known, KnownConversations(conversations))
    taken = intake.take(read_mlflow(place.experiment, Format()))
    return written(_of_the_whole(taken, known, turns), intake, out)


def _of_the_whole(
    taken: Iterable[Annotation], rubric: Rubric, turns: Mapping[str, int]
) -> Iterator[Annotation]:
    """Yield annotations; what was said on the last turn of the whole is about no turn."""
    per_turn = {each.id for each in rubric.criteria if each.per_turn}
    for each in taken:
        on_last = each.turn is not None and each.turn == turns[each.conversation] - 1
        if on_last and each.criterion not in per_turn:
            yield each.model_copy(update={"turn": None})
        else:
            yield each
