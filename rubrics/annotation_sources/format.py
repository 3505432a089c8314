"""Formats: where in a source the parts of an annotation stand, and what is meant by its words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...agents.yaml_file import load_yaml
from ..verdict import Status
from .value import Meaning

_Text = Annotated[str, Field(min_length=1)]
_Value = Annotated[float, Field(allow_inf_nan=False)] | Status


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Columns(_Given):
    """The columns (CSV) or fields (JSON lines) in which the parts of an annotation stand."""

    conversation: _Text = "conversation"
    criterion: _Text = "criterion"
    annotator: _Text = "annotator"
    value: _Text = "value"
    rationale: _Text = "rationale"
    turn: _Text = "turn"
    time: _Text = "time"


class Transcript(_Given):
    """Dialogues as a table of lines, a blank line between two, with ratings beside what was said.

    Attributes:
        columns: What stands in each column: `role`, `text`, `values`, or a name that is not read.
        user: The role of the customer's lines.
        assistant: The role of the assistant's.
        whole: The text of the line, not a part of the dialogue, that rates the whole of it.
        conversation: The name of a dialogue, with `{number}` (from 1) in it.
        turn_criterion: What the ratings of a line are about; None leaves them out.
        whole_criterion: What the ratings of the whole are about.
    """

    columns: tuple[_Text, ...]
    user: _Text = "USER"
    assistant: _Text = "SYSTEM"
    whole: _Text = "OVERALL"
    conversation: _Text = "dialogue-{number}"
    turn_criterion: _Text | None = None
    whole_criterion: _Text = "overall"

    @model_validator(mode="after")
    def _has_what_is_read(self) -> Self:
        missing = [name for name in ("role", "text", "values") if name not in self.columns]
        if missing:
            raise ValueError(f"`columns` has no {', '.join(missing)}")
        if "{number}" not in self.conversation:
            raise ValueError("`conversation` has no {number}, so all dialogues would be the same")
        return self


class Format(_Given):
    """How a source is to be read.

    Attributes:
        columns: Where the parts of an annotation stand.
        criterion: The criterion of all annotations, where no column says it.
        annotator: The annotator of all annotations, where no column says it.
        value_columns: For tables with a column for each criterion: the column, and the criterion.
        criteria: What criteria are called there, and their ids.
        values: What is written there, and the value or status that it means.
        scale: The values there may be for what is in no rubric; any number when left out.
        separator: What separates the values of several annotators in one cell; they are then
            called after their places, `annotator-1` and so on.
        first_turn: The number of the first turn, 0 or 1.
        delimiter: Between two columns of a table.
        transcript: Set for dialogues with ratings beside what was said.
    """

    columns: Columns = Columns()
    criterion: _Text | None = None
    annotator: _Text | None = None
    value_columns: dict[_Text, _Text] = Field(default_factory=dict)
    criteria: dict[_Text, _Text] = Field(default_factory=dict)
    values: dict[_Text, _Value] = Field(default_factory=dict)
    scale: tuple[float, ...] | None = None
    separator: _Text | None = None
    first_turn: int = Field(default=0, ge=0, le=1)
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    transcript: Transcript | None = None

    @property
    def meanings(self) -> dict[str, Meaning]:
        """What is written in the source, and what it means."""
        return dict(self.values)


def load_format(path: Path) -> Format:
    """Read a format.

    Raises:
        UsageError: It cannot be used; every problem is named with its line.
    """
    return load_yaml(Format, path, "format of annotations")
