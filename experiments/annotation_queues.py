"""Review queues: where MLflow asks people the questions of a rubric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agents.fingerprint import fingerprint
from .annotation_questions import Question

if TYPE_CHECKING:
    from mlflow.genai.label_schemas import LabelSchema

NOBODY = "default"
"""What MLflow calls a person where its server has no log-ins."""

_MISSING = "RESOURCE_DOES_NOT_EXIST"
_TOO_OLD = ("ENDPOINT_NOT_FOUND", "NOT_FOUND", "NOT_IMPLEMENTED")


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue as a person finds it.

    Attributes:
        name: What it is called.
        annotator: Whose it is.
        questions: Ids of the criteria.
        per_turn: Whether each item is one turn, or the last turn of a conversation stands for it.
    """

    name: str
    annotator: str
    questions: tuple[str, ...]
    per_turn: bool


def fill_queue(
    experiment_id: str, rubric: str, annotator: str, asked: Sequence[Question], items: Sequence[str]
) -> Queue | None:
    """Put traces into a person's queue; those that are in it already stay as they are.

    Each person has a queue of their own, since an item of a queue is done when one person did it.
    A queue's questions are fixed once it has items, so other questions are another queue.

    Args:
        experiment_id: Where the traces are.
        rubric: Id of the rubric.
        annotator: Whose queue.
        asked: The questions, all about turns or all about conversations; at least one.
        items: Ids of the traces.

    Returns:
        The queue; None when the server is too old to have any.
    """
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  (imported already)
    from mlflow.genai.review_queues import add_items_to_review_queue  # noqa: PLC0415

    per_turn = asked[0].per_turn
    named = tuple(each.criterion for each in asked)
    about = "turns" if per_turn else "conversations"
    name = f"{annotator}: {rubric} {about} {fingerprint(named, 4)}"  # its end may be cut off
    try:
        schemas = [_schema(experiment_id, each).schema_id or "" for each in asked]
        queue_id = _queue_id(experiment_id, name, annotator, schemas)
        add_items_to_review_queue(queue_id, item_ids=list(items))
    except MlflowException as error:
        if error.error_code in _TOO_OLD:
            return None
        raise
    return Queue(name, annotator, named, per_turn)


def _schema(experiment_id: str, question: Question) -> LabelSchema:
    """Return MLflow's form of a question, created or brought up to date."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  (imported already)
    from mlflow.genai.label_schemas import (  # noqa: PLC0415
        InputCategorical,
        create_label_schema,
        get_label_schema,
        update_label_schema,
    )

    options = InputCategorical(list(question.options))
    try:
        found = get_label_schema(question.criterion, experiment_id=experiment_id)
    except MlflowException as error:
        if error.error_code != _MISSING:
            raise
        return create_label_schema(
            question.criterion,
            type="feedback",
            input=options,
            instruction=question.instruction,
            enable_comment=True,
            experiment_id=experiment_id,
        )
    if (found.instruction, found.input) == (question.instruction, options):
        return found
    return update_label_schema(
        found.schema_id or "", instruction=question.instruction, input=options
    )


def _queue_id(experiment_id: str, name: str, annotator: str, schemas: list[str]) -> str:
    """Return the id of a person's queue, created when it does not exist."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  (imported already)
    from mlflow.genai.review_queues import (  # noqa: PLC0415
        create_review_queue,
        get_review_queue,
    )

    try:
        return get_review_queue(name=name, experiment_id=experiment_id).queue_id
    except MlflowException as error:
        if error.error_code != _MISSING:
            raise
    return create_review_queue(
        name,
        queue_type="custom",
        users=[annotator],
        schema_ids=schemas,
        experiment_id=experiment_id,
    ).queue_id
