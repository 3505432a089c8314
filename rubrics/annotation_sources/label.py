"""Labels: what a source says, before it is held against rubric and conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from ...simulation.importers.importer import MalformedError, Refused

_Raw = TypeVar("_Raw")


@dataclass(frozen=True, slots=True)
class Label:
    """One value as a source gives it.

    Attributes:
        unit: What the source consists of, such as `line`.
        number: Which one of these it stands in, from 1.
        conversation: What the source calls the conversation, or a turn of it.
        criterion: What the source calls the criterion.
        annotator: Who gave it.
        value: As it is written there; see `read_value`.
        rationale: Why.
        turn: From 0, when given.
        time: When it was given, if that is known.
    """

    unit: str
    number: int
    conversation: str
    criterion: str
    annotator: str
    value: object
    rationale: str = ""
    turn: int | None = None
    time: datetime | None = None


Labels = Iterator[Label | Refused]


def labels_of(
    unit: str,
    numbered: Iterable[tuple[int, _Raw]],
    read: Callable[[int, _Raw], Iterable[Label]],
) -> Labels:
    """Yield the labels of every record, and go on after those that are malformed."""
    for number, raw in numbered:
        try:
            labels: list[Label | Refused] = [*read(number, raw)]
        except MalformedError as error:
            labels = [Refused(unit, number, str(error))]
        yield from labels


def time_of(written: object) -> datetime | None:
    """Read a time: ISO 8601 or seconds since 1970; one without a zone is UTC.

    Raises:
        MalformedError: It is neither.
    """
    match written:
        case None | "":
            return None
        case bool():
            pass
        case int() | float():
            return datetime.fromtimestamp(written, UTC)
        case str():
            try:
                read = datetime.fromisoformat(written)
            except ValueError as error:
                raise MalformedError(f"'{written}' is no time such as 2026-01-31T12:00") from error
            return read if read.tzinfo else read.replace(tzinfo=UTC)
    raise MalformedError(f"{written!r} is no time such as 2026-01-31T12:00")
