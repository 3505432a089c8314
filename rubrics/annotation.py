"""Annotations: verdicts by people, and the files that keep them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.form_version import of_version
from ..agents.json_lines import stream_json_lines, write_json_lines
from .rubric import Rubric
from .verdict import Status

VERSION = 1
OVERALL = "overall"
"""What stands for the criterion in an annotation of the whole conversation."""

_WHAT = "annotations"


@dataclass(frozen=True, slots=True)
class Item:
    """What one value is about, and several annotators may have seen.

    Attributes:
        conversation: Name of the conversation; see `conversation_name`.
        criterion: Id of the criterion, or `overall`.
        turn: From 0, where every turn has a value of its own; else None.
    """

    conversation: str
    criterion: str
    turn: int | None = None

    @property
    def order(self) -> tuple[str, str, int]:
        """By which items are sorted."""
        return self.criterion, self.conversation, -1 if self.turn is None else self.turn


class Annotation(BaseModel):
    """What one person decided about one criterion of a conversation.

    Attributes:
        version: Of the form of the line.
        conversation: Name of the conversation; see `conversation_name`.
        criterion: Id of the criterion, or `overall`.
        annotator: Who decided.
        value: On the criterion's scale: 1 is a pass and 0 a fail, a tier's value, or a rating such
            as 1 to 5. None unless scored.
        status: `inconclusive` when the person could not say.
        rationale: Why, in the person's words.
        turn: The turn (from 0) that it is about, or where it went wrong, when known.
        time: When it was decided, if that is known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[int, of_version(VERSION)] = VERSION
    conversation: str = Field(min_length=1)
    criterion: str = Field(min_length=1)
    annotator: str = Field(min_length=1)
    value: float | None = Field(default=None, allow_inf_nan=False)
    status: Status = Status.SCORED
    rationale: str = ""
    turn: int | None = Field(default=None, ge=0)
    time: datetime | None = None

    @model_validator(mode="after")
    def _value_goes_with_status(self) -> Annotation:
        if (self.status is Status.SCORED) != (self.value is not None):
            raise ValueError(
                "give a value, or the status not_applicable or inconclusive without one"
            )
        return self

    def item(self, rubric: Rubric | None) -> Item:
        """Return what it is about.

        Of a criterion that is scored once a conversation, the turn is where it went wrong; of any
        other, and of one that is in no rubric, it is a part of the item.
        """
        known = {} if rubric is None else {each.id: each for each in rubric.criteria}
        criterion = known.get(self.criterion)
        turn = self.turn if criterion is None or criterion.per_turn else None
        return Item(self.conversation, self.criterion, turn)


def write_annotations(path: Path, annotations: Iterable[Annotation]) -> int:
    """Write an annotations file, JSON lines; it appears when it is whole.

    Returns:
        How many there were.

    Raises:
        CotuneError: The file cannot be written.
    """
    lines = (annotation.model_dump(mode="json") for annotation in annotations)
    return write_json_lines(path, lines, _WHAT)


def read_annotations(path: Path) -> Iterator[Annotation]:
    """Yield the annotations of a file; blank lines are skipped.

    Raises:
        UsageError: The file cannot be read, or a line is no annotation; names the line.
    """
    for record in stream_json_lines(path, _WHAT):
        yield record.parse(Annotation)
