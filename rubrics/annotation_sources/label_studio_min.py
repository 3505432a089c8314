"""Label Studio's export JSON-MIN: an object for each annotation, answers among the task's data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...agents.errors import UsageError
from ...agents.problem_words import value_in_words
from ...simulation.importers.importer import MalformedError
from .format import Format
from .label import Label, time_of
from .table import turn_of

_TASK = "task"
_ANNOTATOR, _OF_ONE = "annotator", "annotation_id"
_VALUES = ("choices", "rating", "number", "text")


def is_flat(task: object) -> bool:
    """Say whether a task of an export is one of JSON-MIN."""
    return isinstance(task, Mapping) and _OF_ONE in task and "annotations" not in task


def require_answers(source: str, form: Format) -> None:
    """Refuse a format that does not say which fields are answers.

    Raises:
        UsageError: It names none.
    """
    if not form.value_columns:
        raise UsageError(
            f"{source} is an export of Label Studio in the format JSON-MIN, in which answers stand "
            "among the task's data. Name the answers in a --format, such as `value_columns: "
            "{safety: safety}`, or export in the format JSON."
        )


def flat_labels(number: int, task: object, form: Format) -> Iterator[Label]:
    """Yield the labels of one annotation.

    Raises:
        MalformedError: It does not say which conversation it is about, or who made it.
    """
    if not isinstance(task, Mapping):
        raise MalformedError(f"found {value_in_words(task)} where an object is expected")
    conversation = task.get(form.columns.conversation)
    if conversation in (None, ""):
        raise MalformedError(f"it has no '{form.columns.conversation}' that says which it is about")
    who = _annotator(task, form)
    turn = turn_of(task.get(form.columns.turn), form.first_turn)
    time = time_of(task.get("updated_at") or task.get("created_at"))
    for control, criterion in form.value_columns.items():
        if control in task:
            why = _text(task, f"rationale_{control}") or _text(task, form.columns.rationale)
            value = _value(task[control])
            yield Label(_TASK, number, str(conversation), criterion, who, value, why, turn, time)


def _annotator(task: Mapping[str, Any], form: Format) -> str:
    match task.get(_ANNOTATOR):
        case str(name) if name:
            return name
        case int(number):
            return f"annotator-{number}"
        case _ if form.annotator:
            return form.annotator
        case _:
            raise MalformedError("it does not say who annotated")


def _value(written: object) -> object:
    """Return an answer out of what it is wrapped in: only single choices and texts are bare."""
    match written:
        case [Mapping() as only]:
            return _value(only)
        case Mapping():
            return next((written[name] for name in _VALUES if name in written), written)
        case _:
            return written


def _text(task: Mapping[str, Any], control: str) -> str:
    match _value(task.get(control)):
        case None:
            return ""
        case [*lines]:
            return "\n".join(map(str, lines))
        case said:
            return str(said)
