"""Aims: what the customer wants, item by item and state by state.

They are read from the scenario, and compared with the world's state by the same conventions as
the simulator reads it: a cart of lines with `product` and `quantity`, and fields beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..simulation.nouns import likeness
from ..simulation.scenario import ChangeErrand, Errand, ItemErrand, Scenario
from ..simulation.term import Term
from ..simulation.view import Item, View
from .checks.shop import mentions
from .subject import ConversationRecord

State = Mapping[str, Any]

_WORD = re.compile(r"[^\W\d_]{3,}")
_TELL_NOTHING = {"free", "from", "most", "each"}


@dataclass(frozen=True, slots=True)
class Aim:
    """One thing the customer wants.

    Attributes:
        errand: Id of the errand it comes from; empty when it comes from elsewhere.
        item: A generic noun; empty when it is about a field of the state.
        quantity: Units wanted of the item.
        hard: Terms on the item that are never given up.
        soft: Terms given up when they cannot be had.
        reached: Fields of the state, with the values they should have.
        words: The customer's words for it.
    """

    errand: str = ""
    item: str = ""
    quantity: int = 1
    hard: tuple[Term, ...] = ()
    soft: tuple[Term, ...] = ()
    reached: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms on the item."""
        return (*self.hard, *self.soft)

    def met_in(self, state: State) -> bool:
        """Say whether a state is as wanted."""
        if not self.item:
            return all(state.get(name) == value for name, value in self.reached.items())
        lines = [line for line in state.get("cart") or () if self.is_line(line)]
        terms_hold = all(self.accepts(line) for line in lines)
        return terms_hold and sum(map(units_of, lines)) == self.quantity

    def is_line(self, line: Item) -> bool:
        """Say whether a line of the cart is the item, or stands in for it."""
        replaced = line.get("replaced_product")
        named = {"name": str(replaced), "product": str(replaced)}
        return is_kind(line, self.item) or (bool(replaced) and is_kind(named, self.item))

    def accepts(self, item: Item) -> bool:
        """Say whether no term is broken, as far as the item shows; a substitute may differ."""
        terms = self.hard if item.get("approved_substitute_for") else self.terms
        return not any(term.holds(item) is False for term in terms)


def is_kind(item: Item, noun: str) -> bool:
    """Say whether an item is what a noun says."""
    return bool(noun) and likeness({"name": "", **item}, noun) is not None


def units_of(line: Item) -> float:
    """Return how many units a line of the cart has; one when it does not say."""
    quantity = line.get("quantity")
    return quantity if isinstance(quantity, int | float) else 1


def aims_of(record: ConversationRecord, turn: int | None = None) -> tuple[Aim, ...]:
    """Return what the customer wants: errands, then what else the scenario expects.

    Args:
        record: The conversation.
        turn: As of which turn, from 0; in the end, when left out.
    """
    final = record.scenario.final if turn is None else _as_of(record, turn)
    aims = [_aim(errand, final) for errand in final.errands]
    known = {name for aim in aims if aim is not None for name in aim.reached}
    state = record.trajectory.final_state
    expected = [
        Aim(reached={name: value}, words=(str(value),))
        for name, value in final.expected.items()
        if name in state and name not in known and isinstance(value, str | bool)
    ]
    return (*(aim for aim in aims if aim is not None), *expected)


def aim_at(aim: Aim, record: ConversationRecord, turn: int) -> Aim | None:
    """Return what an aim was in a turn, before later changes of mind; None before it was one."""
    if not aim.errand:
        return aim
    return next((each for each in aims_of(record, turn) if each.errand == aim.errand), None)


def asks_for(aim: Aim, message: str, view: View) -> bool:
    """Say whether a message names what an aim is about, or one of the items that answer it."""
    names = (str(item["name"]) for id_, item in view.known.items() if answers(aim, id_, view))
    return any(mentions(message, word) for word in (*aim.words, *names) if word)


def answers(aim: Aim, id_: str, view: View) -> bool:
    """Say whether an item is what an aim wants: by its noun, else by what it was found as."""
    item = view.known[id_]
    if not aim.item or item.get("product") or is_kind(item, aim.item):
        return bool(aim.item) and is_kind(item, aim.item)
    return any(may_mean(aim, noun) for noun in view.sought.get(id_, ()))


def may_mean(aim: Aim, noun: str) -> bool:
    """Say whether a noun may stand for the wanted item: it is like it, or the customer's own."""
    alike = _words(noun) & _words(aim.item)
    return bool(alike) or any(mentions(words, noun) for words in aim.words if noun)


def _aim(errand: Errand, final: Scenario) -> Aim | None:
    words = (errand.say,) if errand.say else ()
    match errand:
        case ItemErrand(id=id_, item=item, quantity=quantity):
            hard, soft = errand.must + final.constraints, errand.prefer + final.preferences
            return Aim(id_, item, quantity, hard, soft, words=(item, *words))
        case ChangeErrand(id=id_, reached=reached):
            return Aim(id_, reached=reached, words=words)
        case _:
            return None


def _as_of(record: ConversationRecord, turn: int) -> Scenario:
    messages = [each.message for each in record.trajectory.turns[: turn + 1]]
    said = [
        revision
        for revision in record.scenario.revisions
        if any(mentions(message, revision.say) for message in messages)
    ]
    return record.scenario.revised(said)


def names_of(term: Term, scenario: Scenario) -> tuple[str, ...]:
    """Return how a term may be said: its value, the customer's words, and facts that say it."""
    own = (_words(term.say) | _words(str(term.value))) - _words(term.field)
    facts = [fact for fact in scenario.facts if own & _words(fact.value)]
    said = [text for fact in facts for text in (fact.value, fact.say) if text]
    return (str(term.value), term.say, *said)


def _words(text: str) -> set[str]:
    """Return the words that tell things apart, singular."""
    found = _WORD.findall(text.casefold().replace("_", " "))
    return {word.removesuffix("s") for word in found} - _TELL_NOTHING
