"""Tables: rows of CSV and JSON lines, an annotation each or one for every criterion's column."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...agents.errors import UsageError
from ...agents.problem_words import value_in_words
from ...agents.text_file import read_text
from ...simulation.importers.importer import MalformedError, Refused, decode
from .format import Format
from .label import Label, Labels, labels_of, time_of

_LINE = "line"
_WHAT = "annotations"
_EMPTY = (None, "")


def read_csv(source: str, form: Format) -> Labels:
    """Yield the labels of a CSV file, whose first line names the columns.

    Raises:
        UsageError: It cannot be read, or lacks a column.
    """
    lines = read_text(Path(source), _WHAT).split("\n")
    reader = csv.DictReader((f"{line}\n" for line in lines), delimiter=form.delimiter, strict=True)
    _require_columns(source, reader.fieldnames or (), form)
    return _csv_labels(reader, form)


def read_json_lines(source: str, form: Format) -> Labels:
    """Yield the labels of a file with a JSON object a line.

    Raises:
        UsageError: It cannot be read.
    """
    lines = enumerate(read_text(Path(source), _WHAT).split("\n"), start=1)
    written = ((number, line) for number, line in lines if line.strip())

    def labels(number: int, line: str) -> Iterator[Label]:
        row = decode(line)
        if not isinstance(row, Mapping):
            raise MalformedError(f"found {value_in_words(row)} where an object is expected")
        return _labels(number, row, form)

    return labels_of(_LINE, written, labels)


def turn_of(written: object, first: int) -> int | None:
    """Read the number of a turn.

    Args:
        written: As it is in the source.
        first: The number of the first turn there.

    Returns:
        It, from 0; None when there is none.

    Raises:
        MalformedError: It is no number, or one before the first.
    """
    if written in _EMPTY:
        return None
    text = str(written).strip().removesuffix(".0")
    if isinstance(written, bool) or not text.isdecimal() or int(text) < first:
        raise MalformedError(f"found {value_in_words(written)} where a turn from {first} is")
    return int(text) - first


def _csv_labels(reader: csv.DictReader[str], form: Format) -> Labels:
    rows = iter(reader)
    while True:
        number = reader.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:  # the rest may hang on a quote that was never closed
            yield Refused(_LINE, number, f"it is not CSV ({error}), and what follows is not read")
            return
        yield from labels_of(_LINE, [(number, row)], lambda at, row: _labels(at, row, form))


def _labels(number: int, row: Mapping[Any, Any], form: Format) -> Iterator[Label]:
    columns = form.columns
    if None in row:
        raise MalformedError("it has more cells than there are columns")
    conversation = _text(row, columns.conversation)
    if not conversation:
        raise MalformedError(f"'{columns.conversation}' does not say which conversation")
    annotator = _text(row, columns.annotator) or form.annotator
    turn = turn_of(row.get(columns.turn), form.first_turn)
    time = time_of(row.get(columns.time))
    rationale = _text(row, columns.rationale)
    for criterion, cell in _cells(row, form):
        for who, value in _by_annotator(cell, annotator, form):
            yield Label(_LINE, number, conversation, criterion, who, value, rationale, turn, time)


def _cells(row: Mapping[Any, Any], form: Format) -> Iterator[tuple[str, object]]:
    """Yield criteria with what is written about them; an empty cell of many says nothing."""
    if form.value_columns:
        for column, criterion in form.value_columns.items():
            if row.get(column) not in _EMPTY:
                yield criterion, row[column]
        return
    criterion = _text(row, form.columns.criterion) or form.criterion
    if not criterion:
        raise MalformedError(f"'{form.columns.criterion}' does not say which criterion")
    if row.get(form.columns.value) in _EMPTY:
        raise MalformedError(f"'{form.columns.value}' has no value")
    yield criterion, row[form.columns.value]


def _by_annotator(
    cell: object, annotator: str | None, form: Format
) -> Iterator[tuple[str, object]]:
    if form.separator is not None and isinstance(cell, str):
        yield from separated(cell, form.separator)
    elif annotator:
        yield annotator, cell
    else:
        raise MalformedError(f"'{form.columns.annotator}' does not say who annotated")


def separated(cell: str, separator: str) -> Iterator[tuple[str, str]]:
    """Yield the values of several annotators in one cell, with what they are called."""
    for place, value in enumerate(cell.split(separator), start=1):
        if value.strip():
            yield f"annotator-{place}", value.strip()


def _text(row: Mapping[Any, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value).strip()


def _require_columns(source: str, found: tuple[str, ...] | list[str] | Any, form: Format) -> None:
    columns = form.columns
    needed = [columns.conversation, *form.value_columns]
    if not form.value_columns:
        needed += [columns.value, *([] if form.criterion else [columns.criterion])]
    if form.annotator is None and form.separator is None:
        needed.append(columns.annotator)
    missing = [name for name in needed if name not in found]
    if missing:
        raise UsageError(
            f"The annotations {source} have no column {', '.join(map(repr, missing))}; found: "
            f"{', '.join(map(repr, found)) or 'no columns'}. Say which column is meant, such as "
            "--column conversation=dialogue_id, or give --criterion or --annotator for all."
        )
