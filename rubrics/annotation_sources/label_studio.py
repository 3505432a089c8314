"""Label Studio: its exports JSON, a task for each conversation or turn, and JSON-MIN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ...agents.errors import UsageError
from ...agents.text_file import read_text
from ...simulation.importers.importer import MalformedError, decode, validated
from .format import Format
from .label import Label, Labels, labels_of
from .label_studio_min import flat_labels, is_flat, require_answers
from .table import turn_of

_TASK = "task"
_RATIONALE = "rationale"
_VALUED = {"choices": "choices", "rating": "rating", "number": "number"}
"""Kinds of results that give a value, and where it is in them."""


class _Exported(BaseModel):
    # Label Studio exports much that is of no interest here.
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Person(_Exported):
    id: int | None = None
    email: str | None = None


class _Result(_Exported):
    from_name: str
    type: str
    value: dict[str, Any] = Field(default_factory=dict)


class _Annotation(_Exported):
    completed_by: int | str | _Person | None = None
    result: tuple[_Result, ...] = ()
    was_cancelled: bool = False
    updated_at: datetime | None = None
    created_at: datetime | None = None

    @property
    def annotator(self) -> str:
        """Who annotated: an address where there is one, else a number."""
        match self.completed_by:
            case _Person(email=str(email)) if email:
                return email
            case _Person(id=int(number)):
                return f"annotator-{number}"
            case str(name) if name:
                return name
            case int(number):
                return f"annotator-{number}"
            case _:
                raise MalformedError("an annotation does not say who completed it")


class _Task(_Exported):
    data: dict[str, Any]
    annotations: tuple[_Annotation, ...] = ()


def read_label_studio(source: str, form: Format) -> Labels:
    """Yield the labels of an export in the format JSON or JSON-MIN.

    A control's name is the criterion (`choices`, `rating` and `number`); a text area called
    `rationale`, or `rationale_` and the criterion, says why. A task's data name the conversation
    and, if need be, the turn. Skipped tasks are left out.

    In JSON-MIN answers stand among the task's data; `value_columns` of the format name them.

    Raises:
        UsageError: The file cannot be read, or is no such export.
    """
    try:
        tasks = decode(read_text(Path(source), "annotations"))
    except MalformedError as error:
        raise UsageError(f"The annotations {source} cannot be read: {error}.") from error
    if not isinstance(tasks, list):
        raise UsageError(
            f"{source} is no export of Label Studio in the format JSON, which is a list of tasks."
        )
    read = _labels
    if any(is_flat(task) for task in tasks):
        require_answers(source, form)
        read = flat_labels
    return labels_of(
        _TASK, enumerate(tasks, start=1), lambda number, task: read(number, task, form)
    )


def _labels(number: int, raw: object, form: Format) -> Iterator[Label]:
    task = validated(_Task, raw)
    conversation = task.data.get(form.columns.conversation)
    if conversation in (None, ""):
        raise MalformedError(
            f"its data have no '{form.columns.conversation}' that says which conversation it is; "
            f"found: {', '.join(task.data) or 'nothing'}"
        )
    turn = turn_of(task.data.get(form.columns.turn), form.first_turn)
    for annotation in task.annotations:
        if annotation.was_cancelled:
            continue
        said = _rationales(annotation.result)
        time = annotation.updated_at or annotation.created_at
        for criterion, value in _values(annotation.result):
            why = said.get(f"{_RATIONALE}_{criterion}", said.get(_RATIONALE, ""))
            who = annotation.annotator
            yield Label(_TASK, number, str(conversation), criterion, who, value, why, turn, time)


def _values(results: tuple[_Result, ...]) -> Iterator[tuple[str, object]]:
    for result in results:
        if result.type in _VALUED:
            yield result.from_name, result.value.get(_VALUED[result.type])


def _rationales(results: tuple[_Result, ...]) -> Mapping[str, str]:
    return {
        result.from_name: "\n".join(map(str, result.value.get("text", ())))
        for result in results
        if result.type == "textarea"
    }
