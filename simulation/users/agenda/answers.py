"""How the customer answers a question of the assistant's: from what they know, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...nouns import words
from ...persona import Persona
from ...scenario import Fact
from ...view import Item
from ...wants import is_order
from .intent import Intent
from .memory import Memory
from .pursue import Agenda

_ORDER = re.compile(
    r"\b(?:place|complete|finali[sz]e|confirm|submit|finish) (?:the|your|this|an) "
    r"(?:\w+ )?(?:order|purchase)\b|\bcheck ?-?out\b|\bproceed to payment\b"
    r"|\bready to (?:order|pay)\b",
    re.IGNORECASE,
)
_REMOVAL = re.compile(r"\b(?:remove|take .* out|delete|drop)\b", re.IGNORECASE)
_YES_OR_NO = re.compile(
    r"(?:\A|[,;:.] |\b(?:so|and|but|or) )"
    r"(?:do|does|did|is|are|was|will|would|should|shall|can|could|may|have|has)\b",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\btell me\b|\bmore about\b|\bmore details?\b|\bwhat (?:exactly|do you need|would you like"
    r"|are you looking for|can I get)\b|\bwhich (?:one|product|item|kind|of)\b"
    r"|\bcould you (?:clarify|specify|repeat)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\bwhich\b|\bany of (?:these|those|them)\b", re.IGNORECASE)
_TAKES = ("take", "take_again", "not_seen", "hesitate")
# What a question says when it asks for terms on a field; other fields are asked by their names.
_FIELD_WORDS = {
    "diet": ("diet", "dietary", "allergy", "allergies", "vegan", "vegetarian"),
    "price": ("price", "budget", "spend", "expensive", "cost"),
    "quantity": ("how many", "quantity", "how much", "amount"),
    "brand": ("brand",),
    "size": ("size", "big", "large"),
}


@dataclass(frozen=True, slots=True)
class Answers:
    """A customer who was asked something."""

    agenda: Agenda
    memory: Memory
    persona: Persona

    def answer(self, question: str) -> Intent:
        """Return the answer; what the customer would have said anyway follows in one breath."""
        going_on = self.agenda.next()
        if any(_asks_for(fact, question) for fact in self.memory.whole.unknown):
            return _first(Intent("dont_know"), going_on)
        about = self._items_named(question)
        known = [fact for fact in self.memory.scenario.facts if _asks_for(fact, question)]
        if known and not about:
            said = {"words": known[0].say or known[0].value}
            return _first(Intent("fact", "", said, notes={"revealed": [known[0].name]}), going_on)
        if _ORDER.search(question):
            return self._order(going_on)
        return self._about(about, question, going_on) if about else self._else(question, going_on)

    def _else(self, question: str, going_on: Intent | None) -> Intent:
        """Answer a question about nothing in sight."""
        if fields := _fields_asked_for(question):
            return self._terms(fields, going_on)
        if going_on is None:
            return Intent("close")
        if going_on.act in _TAKES or _MORE.search(question):
            return self._at_length(question, going_on)
        return _first(Intent("disagree" if _YES_OR_NO.search(question) else "dont_know"), going_on)

    def _order(self, going_on: Intent | None) -> Intent:
        """Agree to an order only when it is all that is left to do."""
        if going_on is None:
            return Intent("close")
        orders = {errand.id for errand in self.memory.open_errands() if is_order(errand)}
        return _first(Intent("agree" if going_on.errand in orders else "not_yet"), going_on)

    def _items_named(self, question: str) -> list[Item]:
        """Return the items of the question; `it` is the only one on the screen."""
        view = self.memory.view
        asked = question.casefold()
        seen = {item["id"]: item for item in (*view.offers, *view.cart)}
        named = [item for item in seen.values() if str(item["name"]).casefold() in asked]
        # `Oat drink` occurs in `Oat drink, small` too: the longer name is meant.
        whole = [
            item
            for item in named
            if not any(
                str(item["name"]) != str(other["name"]) and str(item["name"]) in str(other["name"])
                for other in named
            )
        ]
        if not whole and len(view.offers) == 1 and re.search(r"\b(?:it|this|that)\b", asked):
            return list(view.offers)
        return whole

    def _about(self, items: list[Item], question: str, going_on: Intent | None) -> Intent:
        """Say yes only to what the customer means to do with an item that was named."""
        ids = {item["id"] for item in items}
        if going_on is None:
            return Intent("close")
        if _REMOVAL.search(question):
            meant = going_on.notes.get("takes_out") in ids
            return _first(Intent("agree" if meant else "keep"), going_on)
        if going_on.act == "hesitate":
            return going_on
        if going_on.notes.get("item") in ids:
            return _first(Intent("agree"), going_on) if len(items) == 1 else going_on
        if ids <= {line["id"] for line in self.memory.view.cart}:
            return going_on
        return self._decline(items[0], going_on)

    def _decline(self, item: Item, going_on: Intent) -> Intent:
        errand = self.agenda.current()
        reason = self.agenda.objection(errand, item) if errand else ""
        if not reason:
            return _first(Intent("disagree"), going_on)
        before = going_on.before
        rest = replace(going_on, before=None) if before and before.act == "none_fits" else going_on
        notes = self.agenda.heard_in(reason)
        return _first(Intent("decline", fields={"reason": reason}, notes=notes), rest)

    def _terms(self, fields: Iterable[str], going_on: Intent | None) -> Intent:
        """Say the terms on the fields asked for, or that it does not matter."""
        errand = self.agenda.current()
        if errand is None:
            return _first(Intent("no_preference"), going_on)
        wants = self.memory.wants
        has_terms = {term.field for term in wants.must(errand) + wants.would_like(errand)}
        known = has_terms | {"quantity"} | ({"price"} if wants.scenario.budget else set())
        if not known & set(fields):
            return _first(Intent("no_preference"), going_on)
        if going_on is not None and going_on.act in _TAKES:
            return going_on
        return self.agenda.details(errand)

    def _at_length(self, question: str, going_on: Intent) -> Intent:
        """Say what was said before with all that matters, now that it is asked for."""
        errand = self.agenda.current()
        if going_on.act != "request_again" or errand is None:
            return going_on
        details = self.agenda.details(errand)
        if not (_CHOICE.search(question) and self.memory.view.offers):
            return details
        return details.after(self.agenda.none_fits(errand))


def _first(answer: Intent, going_on: Intent | None) -> Intent:
    return Intent("close").after(answer) if going_on is None else going_on.after(answer)


def _asks_for(fact: Fact, question: str) -> bool:
    asked = " ".join(words(question))
    by = fact.asked_by or tuple(word for word in words(fact.name) if len(word) > 3) or (fact.name,)
    return any(re.search(rf"\b{re.escape(' '.join(words(each)))}\b", asked) for each in by)


def _fields_asked_for(question: str) -> list[str]:
    asked = question.casefold()
    return [
        name
        for name, said in _FIELD_WORDS.items()
        if any(re.search(rf"\b{each}\b", asked) for each in said)
    ]
