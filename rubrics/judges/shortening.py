"""Shortening: what gives way first when a conversation is longer than a judge can read.

Tools' results and what agents received go first, where the criteria in question do not look, then
everywhere; then whole turns from the middle; only then what was said. Each cut leaves a note in
its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from .lines import Kind, Line

_READ = frozenset({Kind.RECEIVED, Kind.RESULT})
_CALLS = _READ | {Kind.RETURNED, Kind.CALLED}
_WORK = _CALLS | {Kind.BACKGROUND}
_SPOKEN = frozenset({Kind.SAID, Kind.STATE, Kind.BACKGROUND})
_KEPT_AT_THE_END = 2


@dataclass(frozen=True, slots=True)
class Focus:
    """Where the evidence of the criteria in question is to be found.

    Attributes:
        agents: The agents that influence them; empty when any may.
        turn: The turn (from 0) in question; None when all are.
    """

    agents: frozenset[str] = frozenset()
    turn: int | None = None

    def covers(self, line: Line) -> bool:
        """Say whether a line may hold the evidence."""
        if self.turn is not None and line.turn != self.turn:
            return False
        return not (self.agents and line.agent) or line.agent in self.agents


@dataclass(frozen=True, slots=True)
class _Cap:
    """Lines of these kinds keep this many characters; in focus only where `everywhere`."""

    kinds: Collection[Kind]
    most: int
    everywhere: bool = True


# Floods of talk are cut as well: nobody may push a tool's result out by talking.
_CAPS = (
    _Cap(frozenset({Kind.RESULT}), 600, everywhere=False),
    _Cap(_READ, 150, everywhere=False),
    _Cap(_SPOKEN, 4000),
    _Cap(frozenset({Kind.RESULT}), 600),
    _Cap(_WORK, 600),
    _Cap(_SPOKEN, 2000),
    _Cap(_WORK, 150, everywhere=False),
    _Cap(_WORK, 150),
    _Cap(_SPOKEN, 1000),
)
_LAST_CAPS = tuple(_Cap(_SPOKEN, most) for most in (400, 150, 60))


def shortened(lines: Sequence[Line], limit: int, focus: Focus) -> tuple[Line, ...]:
    """Return the lines in at most `limit` characters; those that fit stay as they are."""
    kept = tuple(lines)
    for shorter in _ever_shorter(kept, limit, focus):
        kept = shorter
        if length(kept) <= limit:
            return kept
    return _ends(kept, limit)


def length(lines: Sequence[Line]) -> int:
    """Return the characters of the lines as a text."""
    return sum(len(str(line)) + 1 for line in lines)


def _ever_shorter(lines: tuple[Line, ...], limit: int, focus: Focus) -> Iterator[tuple[Line, ...]]:
    yield lines
    for count in range(1, len(_CAPS) + 1):
        yield _capped(lines, _CAPS[:count], focus)
    yield _capped(tuple(_calls_folded(lines, focus.covers)), _CAPS, focus)
    folded = tuple(_calls_folded(lines, lambda line: line.turn == focus.turn))
    yield _capped(folded, _CAPS, focus)
    gone = _turns_to_leave_out(_capped(folded, _CAPS, focus), limit, focus)
    fewer = tuple(_with_notes(folded, gone))
    for count in range(len(_LAST_CAPS) + 1):
        yield _capped(fewer, (*_CAPS, *_LAST_CAPS[:count]), focus)


def _capped(lines: Sequence[Line], caps: Sequence[_Cap], focus: Focus) -> tuple[Line, ...]:
    """Apply to each line the smallest cap that concerns it."""

    def most(line: Line) -> int:
        concerned = (
            cap.most
            for cap in caps
            if line.kind in cap.kinds and (cap.everywhere or not focus.covers(line))
        )
        return min(concerned, default=len(line.text))

    return tuple(replace(line, text=_cut(line.text, most(line))) for line in lines)


def _cut(text: str, most: int) -> str:
    """Keep the beginning and the end of a text; the note says how much is gone."""
    if len(text) <= most + 40:  # it would be no shorter with the note
        return text
    tail = most // 4
    note = f" [{len(text) - most} characters cut] "
    return f"{text[: most - tail]}{note}{text[len(text) - tail :]}"


def _calls_folded(lines: Sequence[Line], stays: Callable[[Line], bool]) -> Iterator[Line]:
    """Yield the lines with a note in place of each run of lines about calls that do not stay."""
    for gone, run in groupby(lines, lambda line: line.kind in _CALLS and not stays(line)):
        block = list(run)
        yield from (_note(f"{len(block)} lines about calls", block),) if gone else block


def _turns_to_leave_out(lines: Sequence[Line], limit: int, focus: Focus) -> set[int]:
    """Choose turns, the middle one first; the first, the last two and that in question stay."""
    blocks: dict[int, list[Line]] = {}
    for line in lines:
        if line.turn is not None:
            blocks.setdefault(line.turn, []).append(line)
    turns = sorted(blocks)
    removable = [turn for turn in turns[1:-_KEPT_AT_THE_END] if turn != focus.turn]
    middle = (turns[0] + turns[-1]) / 2 if turns else 0.0
    excess = length(lines) - limit
    gone: set[int] = set()
    for turn in sorted(removable, key=lambda each: (abs(each - middle), each)):
        if excess <= 0:
            break
        gone.add(turn)
        excess -= length(blocks[turn]) - length([_turn_note(blocks[turn])])
    return gone


def _with_notes(lines: Sequence[Line], gone: Collection[int]) -> Iterator[Line]:
    for turn, run in groupby(lines, lambda line: line.turn):
        block = list(run)
        yield from (_turn_note(block),) if turn in gone else block


def _turn_note(block: Sequence[Line]) -> Line:
    return _note(block[0].label, block)


def _note(what: str, block: Sequence[Line]) -> Line:
    return Line(f"[{what} left out]", "", Kind.NOTE, block[0].turn)


def _ends(lines: Sequence[Line], limit: int) -> tuple[Line, ...]:
    """Keep as many lines from both ends as fit; in between stands that there were more."""
    note = _note("lines of the middle", lines)
    room = limit - length([note])
    head, tail = 0, len(lines)
    while head < tail:
        from_end = len(lines) - tail <= head
        size = length([lines[tail - 1] if from_end else lines[head]])
        if size > room:
            break
        room -= size
        tail, head = (tail - 1, head) if from_end else (tail, head + 1)
    return (*lines[:head], note, *lines[tail:])
