"""Hard terms: whether a customer's words give up what their scenario says is never given up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .acts import pending_question
from .open_errands import scenario_by_now
from .scenario import ItemErrand, Scenario
from .term import Term
from .trajectory import Trajectory
from .user import Say
from .view import Item, View

_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;]*")
_FINE = r"(?:(?!not\b)\w+ )?(?:fine|ok(?:ay)?|good|all ?right|great|no problem|acceptable)"
_UNIMPORTANT = (
    r"(?:does(?:n't| not) matter|is optional"
    r"|is(?:n't| not) (?:important|necessary|needed|required))"
)
_NOT_ASKED = r"(?:does|do|must|need)(?:n't| not) (?:have to |need to )?be"
_TAKES = re.compile(
    r"\b(?:I(?:'ll| will) (?:take|have|go)|I(?:'d| would) like|I want|give me|go (?:with|for)|add|"
    r"buy|order|put|yes|sure|perfect|fine|okay|ok)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:I(?:'ll| will) (?:take|have)|I(?:'d| would) like|I (?:want|need)|give me|add|buy|"
    r"looking for|find me)\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\s*(?:yes|yeah|yep|sure|ok(?:ay)?|please do|go ahead|fine|perfect|great)\b", re.I
)
_NEGATIVE = re.compile(
    r"\b(?:no|not|non|never|without|free|avoid\w*|allerg\w+|except|instead|rather|than|remove|"
    r"out|drop|cancel|swap|replace|exchange|return)\b|n't\b|-free\b",
    re.IGNORECASE,
)


def given_up(move: Say, so_far: Trajectory, scenario: Scenario) -> str:
    """Return which hard term a message gives up, as an objection; empty when none."""
    now = scenario_by_now(scenario, so_far, move)
    hard = (*now.constraints, *(term for errand in _items(now) for term in errand.must))
    message = move.message
    problems = (
        *(f"'{term.say}' is not to be given up" for term in hard if _waives(message, term)),
        *(f"'{term.say}' rules that out" for term in now.constraints if _defies(message, term)),
        *_bad_choices(message, so_far, now),
    )
    return next(iter(problems), "")


def _waives(message: str, term: Term) -> bool:
    """Whether the message says that the term does not matter."""
    words = "|".join(sorted({re.escape(term.say), re.escape(str(term.value))}))
    said = rf"(?:{words})"
    if term.operator in ("is_not", "excludes"):
        patterns = (
            rf"\b(?:with )?{said} (?:is|are|would be) {_FINE}",
            rf"\b(?:can|may) (?:have|contain|include) {said}\b",
            rf"\b(?:do not|don't) mind (?:the )?{said}\b",
        )
    else:
        patterns = (
            rf"\b{_NOT_ASKED} {said}\b",
            rf"\b(?:do not|don't) (?:need|want) (?:it|them|this|that)(?: to be)? {said}\b",
            rf"\b{said} {_UNIMPORTANT}",
            rf"\b(?:no need for|never mind|forget(?: about)?) (?:the |it being )?{said}\b",
            rf"\b(?:not|non)[ -]{said}\b[^.!?\n]{{0,15}}\b(?:is|are|would be) {_FINE}",
            rf"\b(?:do not|don't) mind if (?:it|they)(?:'s| is| are|'re)?(?:n't| not) {said}\b",
        )
    return any(re.search(pattern, message, re.IGNORECASE) for pattern in patterns)


def _defies(message: str, term: Term) -> bool:
    """Whether the message asks for what the term excludes."""
    value = str(term.value)
    if term.operator not in ("is_not", "excludes") or len(value) < 3:
        return False
    wanted = re.compile(rf"\b{re.escape(value)}\b", re.IGNORECASE)
    return any(
        wanted.search(sentence) and _ASKS.search(sentence) and not _NEGATIVE.search(sentence)
        for sentence in _SENTENCE.findall(message)
    )


def _bad_choices(message: str, so_far: Trajectory, now: Scenario) -> Iterator[str]:
    if not (_TAKES.search(message) or _YES.match(message)):
        return
    nouns = {errand.item.casefold() for errand in _items(now)}
    known = View.of(so_far).known.values()
    # `Olive oil` may be an item's name, but who says it may mean any.
    items = [item for item in known if str(item["name"]).casefold() not in nouns]
    for item in _accepted(message, so_far, items):
        for term in (*now.constraints, *_must_of(item, now)):
            if term.holds(item) is False and term.say.casefold() not in message.casefold():
                yield f"'{item['name']}' is not '{term.say}', which is not to be given up"


def _accepted(message: str, so_far: Trajectory, items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items that the customer takes by name, or by a yes to a question that names one."""
    named = False
    for sentence in _SENTENCE.findall(message):
        inside = _named_in(sentence, items)
        named = named or bool(inside)
        if _TAKES.search(sentence) and not _NEGATIVE.search(sentence):
            yield from inside
    question = pending_question(so_far)
    if not named and _YES.match(message) and not _NEGATIVE.search(f"{question} {message}"):
        asked_about = _named_in(question, items)
        yield from asked_about if len(asked_about) == 1 else ()


def _named_in(text: str, items: Sequence[Item]) -> list[Item]:
    """Return the items whose names are in a text, without those that are part of a longer name.

    Where several items have one name, such as a product in two sizes, nobody knows which is
    meant.
    """
    rest = text.casefold()
    names = [str(item["name"]).casefold() for item in items]
    found: list[Item] = []
    for item in sorted(items, key=lambda each: -len(str(each["name"]))):
        name = str(item["name"]).casefold()
        if name in rest:
            found += [item] if names.count(name) == 1 else []
            rest = rest.replace(name, " ")
    return found


def _must_of(item: Item, now: Scenario) -> tuple[Term, ...]:
    """Return what must hold for an item whose product the world names; else it cannot be told."""
    product = str(item.get("product", "")).casefold()
    errands = [errand for errand in _items(now) if errand.item.casefold() == product]
    return errands[0].must if len(errands) == 1 else ()


def _items(scenario: Scenario) -> Iterator[ItemErrand]:
    return (errand for errand in scenario.errands if isinstance(errand, ItemErrand))
