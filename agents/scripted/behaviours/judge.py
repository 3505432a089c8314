"""The simulated judge: reads the record line by line, and understands a few kinds of criteria.

What a criterion is about it tells from its id and name. It looks only at the lines that
belong to the record, and takes nothing that is said there as addressed to it. What it does not
understand does not apply. Whether it counts "Anything else?" as a question depends on its prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..call import Call
from ..chance import pick

_RECORD = re.compile(
    r"\ABEGIN CONVERSATION (?P<mark>[0-9a-f]+)\n(?P<body>.*)\nEND CONVERSATION (?P=mark)\Z",
    re.DOTALL,
)
_CRITERION = re.compile(r"^criterion (?P<id>\w+): (?P<name>.*)$", re.MULTILINE)
_TURN = re.compile(r"turn (\d+)")
_QUESTION = re.compile(r"[^.!?]*[^.!?\s][^.!?]*\?")
_CLOSING = re.compile(r"\b(?:anything|something|what) else\b|\bhow can I\b", re.IGNORECASE)
_CURT = re.compile(r"\b(?:stupid|shut up|whatever|idiot|your problem)\b", re.IGNORECASE)
_WORK_DONE = re.compile(r"\bI(?:'ve| have)? (?:added|removed|put|changed|ordered)\b", re.IGNORECASE)
_LABEL = re.compile(r"(?P<label>[^:]*)(?:: (?P<text>.*))?")


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the record, with its turn (from 1; 0 before the first)."""

    turn: int
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found out: whether it is good, or None when the criterion does not apply."""

    good: bool | None
    why: str
    line: _Line | None = None
    quote: str = ""


def judge(call: Call) -> dict[str, Any]:
    """Return one entry for each criterion that the schema has."""
    lines = _in_question(call, _lines(call.string("conversation")))
    names = dict(_CRITERION.findall(call.string("criteria")))
    return {
        id_: _entry(_found(call, f"{id_} {names.get(id_, '')}", lines), schema)
        for id_, schema in call.schema.get("properties", {}).items()
    }


def slip_of_value(call: Call, said: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return the entries with the value of one turned round, if one has the quote it needs."""
    quoting = sorted(name for name, entry in said.items() if entry["evidence"])
    if not quoting:
        return dict(said)
    name = pick(quoting, salt, "criterion")
    best, *_, worst = _words(call.schema["properties"][name])
    other = worst if said[name]["value"] == best else best
    return {**said, name: {**said[name], "value": other}}


def _lines(conversation: str) -> list[_Line]:
    record = _RECORD.match(conversation)
    lines: list[_Line] = []
    turn = 0
    for text in record["body"].split("\n") if record else ():
        if head := _TURN.fullmatch(text):
            turn = int(head[1])
        elif match := _LABEL.fullmatch(text):
            lines.append(_Line(turn, match["label"], match["text"] or ""))
    return lines


def _in_question(call: Call, lines: list[_Line]) -> list[_Line]:
    turn = _TURN.match(call.string("about"))
    return [line for line in lines if line.turn == int(turn[1])] if turn else lines


def _found(call: Call, criterion: str, lines: list[_Line]) -> _Found:
    about = criterion.lower()
    for stems, look in _LOOKS:
        if any(stem in about for stem in stems):
            return look(call, lines)
    return _Found(None, "The simulation does not understand this criterion.")


def _asks(call: Call, lines: list[_Line]) -> _Found:
    replies = _replies(lines)
    counts_closings = not call.instructions.mention("closing", "anything else")
    for line in replies:
        for question in _QUESTION.findall(line.text):
            if counts_closings or not _CLOSING.search(question):
                return _Found(True, "It asks.", line, question.strip())
    if not replies:
        return _Found(None, "Nothing was said.")
    return _Found(False, "It never asks.", replies[-1], replies[-1].text)


def _repeats(_: Call, lines: list[_Line]) -> _Found:
    seen: set[str] = set()
    for line in _replies(lines):
        if line.text in seen:
            return _Found(False, "It says the same thing twice.", line, line.text)
        seen.add(line.text)
    return _Found(True, "It does not repeat itself.")


def _manners(_: Call, lines: list[_Line]) -> _Found:
    for line in _replies(lines):
        if rude := _CURT.search(line.text):
            return _Found(False, "It is rude.", line, rude[0])
    return _Found(True, "Its tone is fine.")


def _claims(_: Call, lines: list[_Line]) -> _Found:
    """A turn in which the assistant says it did something and nothing changed is a false claim."""
    changed = {line.turn for line in lines if line.label == "changed"}
    for line in _replies(lines):
        claim = _WORK_DONE.search(line.text)
        if claim and line.turn not in changed:
            return _Found(False, "It claims what did not happen.", line, claim[0])
    return _Found(True, "What it claims can be seen.")


_LOOKS: tuple[tuple[tuple[str, ...], Callable[[Call, list[_Line]], _Found]], ...] = (
    (("coherence", "repeat"), _repeats),
    (("integrity", "made up"), _claims),
    (("tone", "polite"), _manners),
    (("clarif", "asks", "confirm"), _asks),
)


def _replies(lines: list[_Line]) -> list[_Line]:
    return [line for line in lines if line.label == "assistant"]


def _entry(found: _Found, schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema.get("properties", {})
    words = _words(schema)
    value = "NOT_APPLICABLE" if found.good is None else words[0 if found.good else -1]
    agents = fields.get("agent", {}).get("enum", ["none"])
    entry = {
        "applies": found.good is not None,
        "rationale": found.why,
        "evidence": [found.quote] if found.quote else [],
        "turns": [found.line.turn] if found.line and found.line.turn else [],
        "agent": "none" if found.good is not False else agents[max(len(agents) - 2, 0)],
        "value": value,
        "confidence": 90,
    }
    return {name: entry[name] for name in fields if name in entry}


def _words(schema: Mapping[str, Any]) -> list[str]:
    """Return the words of a scale, the best first."""
    words = schema.get("properties", {}).get("value", {}).get("enum", ["PASS", "FAIL"])
    return [word for word in words if word != "NOT_APPLICABLE"]
