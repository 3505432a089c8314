"""The simulated customer: works through what it wants, one thing after the other.

It answers questions from what it knows, asks for what it does not see done, takes the first
thing on the screen that is called right, and says goodbye. Its slips are those of models that
lose their role: they help, think aloud, fail, fall silent or leave too early.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..call import Call
from ..chance import pick
from ..words import content_words

_ITEM = re.compile(r"(?P<count>\d+) x (?P<item>.+?) in the cart(?P<rest>.*)")
_NO_ITEM = re.compile(r"no (?P<item>.+?) in the cart")
_OPEN = re.compile(r"'([^',]+)")
_TERMS = re.compile(r"(?:must|if possible): ([^;]+)")
_OWN_WORDS = re.compile(r"\(?in your words: (.+?)\)?$")
_QUESTION = re.compile(r"[^.!?]*\?")
_CLOSING = re.compile(r"\b(?:anything|something|what) else\b|\bhow can I\b", re.IGNORECASE)
_PREFIX = re.compile(r"(?:ask|tell|have this done): ")
_SLIPS: tuple[tuple[str, str], ...] = (
    ("Hello! How can I help you today?", "continue"),
    ("The user wants groceries, so I should ask for them now.", "continue"),
    ("Error: 429 Too Many Requests", "continue"),
    ("", "continue"),
    ("", "satisfied"),
)
Turn = dict[str, Any]


def customer(call: Call) -> Turn:
    """Return the next thing to say; each earlier attempt that was no good skips one idea."""
    said = {_plain(line) for line in _lines(call, "conversation", "you: ")}
    ideas = [idea for idea in _ideas(call) if _plain(idea["message"]) not in said]
    refused = len(_bullets(call, "problems"))
    return ideas[min(refused, len(ideas) - 1)] if ideas else _turn("Bye.", "gave_up")


def slip_of_role(call: Call, said: Mapping[str, Any], salt: str) -> Turn:
    """Return a turn that no customer would take."""
    message, status = pick(_SLIPS, salt, "slip")
    return {"message": message, "status": status, "reason": "a slip"}


def _ideas(call: Call) -> Iterator[Turn]:
    """Yield what could be said, the best first."""
    if (news := call.string("news")) not in ("", "none"):
        yield _turn(news)
    yield from map(_turn, _answers(call))
    still_open = [match[1] for line in _bullets(call, "not_done") if (match := _OPEN.search(line))]
    for want in _bullets(call, "wants"):
        yield from (_turn(message) for message in _pursued(call, want, still_open) if message)
    if still_open:
        yield _turn("This leads nowhere. I'll look elsewhere.", "gave_up")
    yield _turn("That's all I need. Thank you, bye.", "continue" if still_open else "satisfied")
    yield _turn("Nothing more for now.", "gave_up" if still_open else "satisfied")


def _answers(call: Call) -> Iterator[str]:
    """Yield answers to what the assistant asked last, from what is known."""
    replies = _lines(call, "conversation", "assistant: ")
    found = _QUESTION.findall(replies[-1]) if replies else []
    asked = [question for question in found if not _CLOSING.search(question)]
    if not asked:
        return
    subject = content_words(asked[-1])
    for fact in _bullets(call, "knows"):
        name, _, value = fact.partition(": ")
        if content_words(name) & subject:
            yield own[1] if (own := _OWN_WORDS.search(value)) else f"It's {value}."
    for name in call.string("does_not_know").split(", "):
        if content_words(name) & subject:
            yield f"Sorry, I don't know my {name}."
    yield "Yes, please."
    yield "Yes, that would be good, please."


def _pursued(call: Call, want: str, still_open: list[str]) -> Iterator[str]:
    """Yield what is said about one want, for as long as it is open."""
    if match := _ITEM.match(want):
        item = match["item"]
        if item in still_open:
            yield _request(match, _terms_of_every_item(call))
            if shown := _on_screen(call, item):
                yield f"I'll take {match['count']} of the {shown}."
            yield f"I don't see the {item} in my cart yet. Can you add it?"
    elif match := _NO_ITEM.match(want):
        if match["item"] in still_open:
            yield f"Please remove the {match['item']}."
    elif prefix := _PREFIX.match(want):
        yield re.sub(r" \(insist \d+ times if refused\)$", "", want[prefix.end() :])


def _request(want: re.Match[str], general: list[str]) -> str:
    if own := _OWN_WORDS.search(want["rest"]):
        return own[1]
    count = "" if want["count"] == "1" else f"{want['count']} "
    parts = [f"{count}{want['item']}", *_TERMS.findall(want["rest"]), *general]
    return f"I need {', '.join(parts)}."


def _terms_of_every_item(call: Call) -> list[str]:
    wants = [want for want in _bullets(call, "wants") if want.startswith("for every item")]
    return [terms for want in wants for terms in _TERMS.findall(want)]


def _on_screen(call: Call, item: str) -> str:
    """Return the name of the first thing on the screen that shares a word with the item."""
    names = (line.partition(" (")[0] for line in _bullets(call, "screen"))
    return next((name for name in names if content_words(name) & content_words(item)), "")


def _turn(message: str, status: str = "continue") -> Turn:
    return {"message": message, "status": status, "reason": "the next thing to say"}


def _bullets(call: Call, field: str) -> list[str]:
    return [line[2:] for line in call.string(field).splitlines() if line.startswith("- ")]


def _lines(call: Call, field: str, start: str) -> list[str]:
    lines = call.string(field).splitlines()
    return [line.removeprefix(start) for line in lines if line.startswith(start)]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
