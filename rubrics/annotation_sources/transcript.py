"""Transcripts: dialogues as a table of lines, with ratings beside what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...agents.errors import UsageError
from ...agents.text_file import read_text
from ...simulation.importers.chat_message import ChatMessage
from ...simulation.importers.chat_turns import trajectory_of
from ...simulation.importers.importer import MalformedError
from ...simulation.trajectory import Trajectory
from .format import Format, Transcript
from .label import Label, Labels, labels_of
from .table import separated

_LINE = "line"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a dialogue, with the turn (from 0) that it belongs to."""

    number: int
    role: str
    text: str
    values: str
    turn: int | None


def read_transcript(source: str, form: Format) -> Labels:
    """Yield the labels of a file of dialogues.

    Raises:
        UsageError: It cannot be read, or the format says nothing about transcripts.
    """
    layout = _layout(source, form)
    dialogues = _dialogues(source, form, layout)

    def labels(number: int, dialogue: list[tuple[int, str]]) -> Iterator[Label]:
        name = layout.conversation.format(number=number)
        return _labels(name, _lines(dialogue, form, layout), form, layout)

    return labels_of("dialogue", dialogues, labels)


def conversations(source: str, form: Format) -> Iterator[Trajectory]:
    """Yield the dialogues of a file, to be judged; those without an answer are left out.

    Raises:
        UsageError: See `read_transcript`.
    """
    layout = _layout(source, form)
    roles = {layout.user: "user", layout.assistant: "assistant"}
    for number, dialogue in _dialogues(source, form, layout):
        try:
            messages = [
                ChatMessage.model_validate({"role": roles[line.role], "content": line.text})
                for line in _lines(dialogue, form, layout)
                if line.text != layout.whole
            ]
            name = layout.conversation.format(number=number)
            yield trajectory_of(name, messages, {"source": "transcript"})
        except MalformedError:
            continue  # `read_transcript` says why


def _layout(source: str, form: Format) -> Transcript:
    if form.transcript is None:
        raise UsageError(
            f"To read {source} as a transcript, name a --format whose section `transcript` says "
            "what its columns are."
        )
    return form.transcript


def _dialogues(
    source: str, form: Format, layout: Transcript
) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Yield the dialogues with their numbers: lines with theirs, up to the next blank one."""
    block: list[tuple[int, str]] = []
    found = 0
    text = read_text(Path(source), "annotations")
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            found += 1
            yield found, block
            block = []


def _lines(
    dialogue: Iterable[tuple[int, str]], form: Format, layout: Transcript
) -> Iterator[_Line]:
    turn = -1
    answered = True
    for number, written in dialogue:
        cells = written.split(form.delimiter)
        if len(cells) > len(layout.columns):
            raise MalformedError(
                f"line {number} has {len(cells)} columns, expected {len(layout.columns)}"
            )
        row = dict(zip(layout.columns, [*cells, *[""] * len(layout.columns)], strict=False))
        role, text = row["role"].strip(), row["text"].strip()
        if role not in (layout.user, layout.assistant):
            raise MalformedError(
                f"line {number} is by '{role}'; known are {layout.user} and {layout.assistant}"
            )
        if text == layout.whole:
            yield _Line(number, role, text, row["values"], None)
            continue
        # What a customer says in several lines before an answer is one turn.
        turn += role == layout.user and answered
        answered = role == layout.assistant
        yield _Line(number, role, text, row["values"], max(turn, 0))


def _labels(name: str, lines: Iterable[_Line], form: Format, layout: Transcript) -> Iterator[Label]:
    for line in lines:
        criterion = layout.whole_criterion if line.turn is None else layout.turn_criterion
        if criterion is None or not line.values.strip():
            continue
        given = (
            separated(line.values, form.separator)
            if form.separator is not None
            else [(form.annotator or "annotator-1", line.values.strip())]
        )
        for annotator, value in given:
            yield Label(_LINE, line.number, name, criterion, annotator, value, turn=line.turn)
