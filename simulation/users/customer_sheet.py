"""The customer's sheet: all that a model is told when it plays a customer, in words.

It holds what the scenario says the customer knows, what they see, and what was said, and nothing
else: of what they do not know only the names, and of changes of mind none before its turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..open_errands import open_errands
from ..persona import Persona
from ..scenario import (
    ChangeErrand,
    Errand,
    Fact,
    ItemErrand,
    QuestionErrand,
    Revision,
    Scenario,
    StatementErrand,
)
from ..term import Term
from ..trajectory import Trajectory
from ..view import Item, View

_BEGIN, _END = "BEGIN CONVERSATION", "END CONVERSATION"
_NONE = "none"


def customer_sheet(
    now: Scenario,
    persona: Persona,
    news: Revision | None,
    so_far: Trajectory,
    objections: Sequence[str],
) -> dict[str, str]:
    """Return the sheet, by the names of the input fields.

    Args:
        now: The scenario with the changes of mind up to this turn.
        persona: The customer's manner.
        news: The change of mind to come out with in this turn.
        so_far: The conversation.
        objections: What was wrong with earlier attempts at this turn.
    """
    view = View.of(so_far)
    return {
        "persona": _line(persona.description),
        "goal": _line(now.goal),
        "wants": _bullets(_wants(now)),
        "knows": _bullets(f"{fact.name}: {_words(fact)}" for fact in now.facts),
        "does_not_know": ", ".join(fact.name for fact in now.unknown) or _NONE,
        "news": _line(news.say) if news else _NONE,
        "screen": _bullets(_item(item) for item in view.offers),
        "cart": _bullets(f"{line.get('quantity', 1)} x {_item(line)}" for line in view.cart),
        "not_done": _bullets(open_errands(now, so_far)),
        "conversation": "\n".join([_BEGIN, *_conversation(so_far), _END]),
        "problems": _bullets(objections),
    }


def _conversation(so_far: Trajectory) -> Iterator[str]:
    """Yield one line per message, so that no text in it can pass for another line."""
    for turn in so_far.turns:
        yield f"you: {_line(turn.message)}"
        yield f"assistant: {_line(turn.reply.text) or '(said nothing)'}"


def _wants(now: Scenario) -> Iterator[str]:
    yield from (_errand(errand) for errand in now.errands)
    if now.constraints:
        yield f"for every item, must: {_terms(now.constraints)}"
    if now.preferences:
        yield f"for every item, if possible: {_terms(now.preferences)}"
    if now.budget is not None:
        yield f"budget for everything together, must: at most {now.budget:g}"


def _errand(errand: Errand) -> str:
    match errand:
        case ItemErrand(quantity=0):
            said = f"no {errand.item} in the cart"
        case ItemErrand():
            said = _wanted(errand)
        case ChangeErrand():
            return f"have this done: {errand.say}"
        case QuestionErrand():
            again = f" (insist {errand.insists} times if refused)" if errand.insists else ""
            return f"ask: {errand.say}{again}"
        case StatementErrand():
            return f"tell: {errand.say}"
    return f"{said}; in your words: {errand.say}" if errand.say else said


def _wanted(errand: ItemErrand) -> str:
    parts = [f"{errand.quantity} x {errand.item} in the cart"]
    if errand.must:
        parts.append(f"must: {_terms(errand.must)}")
    if errand.prefer:
        parts.append(f"if possible: {_terms(errand.prefer)}")
    if errand.substitute:
        parts.append("if it cannot be had, something else that meets every must will do")
    return "; ".join(parts)


def _terms(terms: Iterable[Term]) -> str:
    return ", ".join(term.say for term in terms)


def _words(fact: Fact) -> str:
    return f"{fact.value} (in your words: {fact.say})" if fact.say else fact.value


def _item(item: Item) -> str:
    details = (f"{name} {_value(value)}" for name, value in item.items() if _is_shown(name, value))
    return f"{_line(str(item['name']))} ({', '.join(details)})"


def _is_shown(name: str, value: Any) -> bool:
    inside = isinstance(value, Mapping) or value in (None, "", [])
    return not inside and name not in {"id", "product_id", "name", "quantity"}


def _value(value: Any) -> str:
    return "/".join(map(str, value)) if isinstance(value, list) else _line(str(value))


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_line(line)}" for line in lines) or _NONE


def _line(text: str) -> str:
    return " ".join(text.split())
