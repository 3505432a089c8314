"""The simulated router: a reader of words that knows only the policy its prompt states.

It understands a few ideas of English (`concepts.yaml`) but not which agent they belong to.
A label scores by the ideas and words that the message shares with the statements of the
prompt that lead to this label, and by the worked examples nearest to the message. What
remains without a prompt is the label's name and a prejudice, which is often wrong: whatever
sounds like buying is the cart's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from ..call import Call
from ..instructions import Example, Instructions
from ..words import content_words

IDEA_WEIGHT = 1.0
WORD_WEIGHT = 0.3
TOGETHER_WEIGHT = 2.0
EXAMPLE_WEIGHT = 2.5
NEIGHBOURS = 3
_PREJUDICE = {
    "cart": ("add", "buy", "order", "cart", "basket", "need", "pay"),
    "search": ("find", "look", "search", "where", "price"),
    "selector": ("which", "choose", "pick", "select", "better"),
    "preferences": ("prefer", "like", "favourite", "want"),
    "responder": ("hello", "hi", "thank", "question", "deliver"),
}
_LEADS_TO = r"(?:to|->|→|=|use|choose|call|is for|answer|pick|belongs? to|handled by)\s*"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of the prompt that leads to a label, or to none.

    Attributes:
        label: The label, or empty for a statement about how to read a message.
        ideas: The ideas it names.
        words: Its content words.
        first: Whether it says what goes first when several ideas come together.
        ignores: Whether it says that something does not count.
    """

    label: str
    ideas: frozenset[str]
    words: frozenset[str]
    first: bool
    ignores: bool


def route(call: Call) -> dict[str, Any]:
    """Return the label with the highest score; the schema's order decides a tie."""
    labels = call.schema["properties"]["agent"]["enum"]
    statements = policy(call.instructions, tuple(labels))
    message = call.string("message")
    ideas = _counting(heard(message), statements)
    words = content_words(message)
    scores = defaultdict(float, {label: _prejudice(label, words) for label in labels})
    for statement in statements:
        scores[statement.label] += _support(statement, ideas, words)
    for label, similarity in _nearest(call.instructions.examples, ideas, words):
        scores[label] += EXAMPLE_WEIGHT * similarity
    return {"agent": max(labels, key=lambda label: scores[label])}


@lru_cache(maxsize=512)
def policy(instructions: Instructions, labels: tuple[str, ...]) -> tuple[Statement, ...]:
    """Read the statements of a prompt; those that name no single label lead nowhere."""
    return tuple(_read(text, labels) for text in instructions.statements)


def heard(message: str) -> frozenset[str]:
    """Return the ideas in a customer's message."""
    return _ideas(message, "heard")


def _read(text: str, labels: Sequence[str]) -> Statement:
    return Statement(
        _label(text, labels),
        _ideas(text, "named"),
        content_words(text),
        bool(re.search(r"\bfirst\b", text, re.I)),
        bool(re.search(r"\bnever counts?\b|\bignor|\bdoes not count\b", text, re.I)),
    )


def _label(text: str, labels: Sequence[str]) -> str:
    names = "|".join(map(re.escape, labels))
    plain = re.sub(r"[`*_\"']", "", text).lower()
    for pattern in (rf"^({names})\s*(?::|-|–|=|\()", rf"\b{_LEADS_TO}(?:the )?({names})\b"):
        found = set(re.findall(pattern, plain))
        if len(found) == 1:
            return found.pop()
    mentioned = set(re.findall(rf"\b({names})\b", plain))
    return mentioned.pop() if len(mentioned) == 1 else ""


def _counting(ideas: frozenset[str], statements: Sequence[Statement]) -> frozenset[str]:
    """Leave out what the prompt says does not count beside something else."""
    ignored = frozenset[str]().union(*(each.ideas for each in statements if each.ignores))
    return (ideas - ignored) or ideas


def _prejudice(label: str, words: frozenset[str]) -> float:
    return 0.5 * len(words & content_words(" ".join((label, *_PREJUDICE.get(label, ())))))


def _support(statement: Statement, ideas: frozenset[str], words: frozenset[str]) -> float:
    shared = statement.ideas & ideas
    score = IDEA_WEIGHT * bool(shared) + WORD_WEIGHT * len(statement.words & words)
    if statement.first:
        return TOGETHER_WEIGHT + score if len(shared) > 1 else 0.0
    return score


def _nearest(
    examples: Sequence[Example], ideas: frozenset[str], words: frozenset[str]
) -> list[tuple[str, float]]:
    ranked = sorted(
        (
            (_similarity(example.input, ideas, words), str(example.answer().get("agent", "")))
            for example in examples
        ),
        reverse=True,
    )
    return [(label, similarity) for similarity, label in ranked[:NEIGHBOURS]]


def _similarity(example: str, ideas: frozenset[str], words: frozenset[str]) -> float:
    """Shared ideas and words over all of both, ideas counting twice (0 to 1)."""
    other_ideas, other_words = heard(example), content_words(example)
    shared = 2 * len(ideas & other_ideas) + len(words & other_words)
    everything = 2 * len(ideas | other_ideas) + len(words | other_words)
    return shared / everything if everything else 0.0


@lru_cache(maxsize=8192)
def _ideas(text: str, side: str) -> frozenset[str]:
    return frozenset(
        idea for idea, pattern in _concepts()[side].items() if pattern.search(text.lower())
    )


@lru_cache(maxsize=1)
def _concepts() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    path = Path(__file__).with_name("concepts.yaml")
    concepts = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        side: {
            idea: re.compile(rf"(?<!\w)(?:{'|'.join(sides[side])})(?!\w)")
            for idea, sides in concepts.items()
        }
        for side in ("heard", "named")
    }
