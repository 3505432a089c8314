"""Told: what of an aim the assistant could know by a turn; nobody is to blame for the rest."""

from __future__ import annotations

from dataclasses import replace

from ..simulation.term import Term
from ..simulation.view import View
from .aims import Aim, aim_at, answers, names_of
from .checks.shop import mentions
from .flow import steps_of
from .subject import ConversationRecord


def aim_as_told(aim: Aim, record: ConversationRecord, view: View, turn: int) -> Aim:
    """Return an aim as it was in a turn, with those of its terms that could be known and met.

    Args:
        aim: What is wanted in the end.
        record: The conversation.
        view: The view at its end.
        turn: From 0.
    """
    then = _with_terms(aim_at(aim, record, turn) or aim, record, view)
    heard = [
        step.received
        for each in range(turn + 1)
        for step in steps_of(record.trajectory, each, view)
    ]
    known = [
        term
        for term in then.terms
        if any(mentions(text, name) for name in names_of(term, record.scenario) for text in heard)
    ]
    hard = tuple(term for term in then.hard if term in known)
    soft = tuple(term for term in then.soft if term in known and _can_be_had(then, term, view))
    return replace(then, hard=hard, soft=soft)


def _can_be_had(aim: Aim, term: Term, view: View) -> bool:
    return any(
        item.get("in_stock") is not False and term.holds(item) and answers(aim, id_, view)
        for id_, item in view.known.items()
    )


def _with_terms(aim: Aim, record: ConversationRecord, view: View) -> Aim:
    """Give an aim about the state terms, by the names that people use for the state's values."""
    if aim.item:
        return aim
    named = [
        (name, _name(name, value, aim, record, view))
        for name, value in aim.reached.items()
        if isinstance(value, str)
    ]
    terms = (Term(field=name, operator="is", value=said, say=said) for name, said in named if said)
    return replace(aim, hard=tuple(terms))


def _name(field: str, value: str, aim: Aim, record: ConversationRecord, view: View) -> str:
    """Return what people call a value of the state, such as a shop's name for its id."""
    facts = [fact.value for fact in record.scenario.facts if field in fact.name]
    shown = [str(view.known[value]["name"])] if value in view.known else []
    seen = sorted({str(item[field]) for item in view.known.values() if field in item})
    said = [name for name in (value, *seen) if any(mentions(words, name) for words in aim.words)]
    return next(iter([*facts, *shown, *said]), "")
