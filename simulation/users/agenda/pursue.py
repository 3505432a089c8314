"""What the customer does about the cart and their errands when they have the word."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...acts import Act
from ...nouns import plural
from ...persona import Persona, Reveal
from ...scenario import ChangeErrand, Errand, ItemErrand, QuestionErrand
from ...view import Item
from ...wants import Wants, is_order
from .intent import Intent
from .memory import Memory

_TRIES_BEFORE_GIVING_UP = 2


@dataclass(frozen=True, slots=True)
class Agenda:
    """The customer's next step, whatever the assistant may have asked."""

    memory: Memory
    persona: Persona

    def next(self) -> Intent | None:
        """Return the next thing to say: a correction, an errand; None when all is over."""
        if correction := self._correction():
            return correction
        still_open = self.memory.open_errands()
        # An order that is placed cannot be changed, so it comes last, whatever the order.
        errand = min(still_open, key=is_order, default=None)
        if (errand is None or is_order(errand)) and self._changes_mind_later():
            return Intent("pause")
        if errand is None or (is_order(errand) and self._has_nothing_to_order()):
            return None
        return self._pursue(errand)

    def details(self, errand: ItemErrand) -> Intent:
        """Ask for an item and say everything that matters about it."""
        return self._request(errand, everything=True)

    def current(self) -> ItemErrand | None:
        """Return the item that is at issue, if any."""
        still_open = self.memory.open_errands()
        return next((each for each in still_open if isinstance(each, ItemErrand)), None)

    def objection(self, errand: ItemErrand, item: Item) -> str:
        """Say why an item is not taken; empty when it might be."""
        wants = self.memory.wants
        if all(item["id"] != each["id"] for each in wants.suspects(errand)):
            return f"I want {plural(errand.item)}"
        if broken := wants.broken(errand, item):
            return f"it has to be {broken[0].say}"
        return "" if item in wants.fitting(errand) else "that is too expensive"

    def heard_in(self, text: str) -> dict[str, list[str]]:
        """Return as notes which terms and facts are in the customer's own words."""
        scenario = self.memory.scenario
        terms = [
            term for each in self.memory.wants.item_errands for term in each.must + each.prefer
        ]
        said = [term.say for term in (*scenario.constraints, *scenario.preferences, *terms)]
        named = {fact.name: fact.say or fact.value for fact in scenario.facts}
        facts = [name for name, words in named.items() if words in text]
        return {"revealed": [each for each in dict.fromkeys(said) if each in text] + facts}

    def _changes_mind_later(self) -> bool:
        return self.memory.revisions < len(self.memory.whole.revisions)

    def _has_nothing_to_order(self) -> bool:
        return not self.memory.view.cart and bool(self.memory.given_up)

    def _correction(self) -> Intent | None:
        wrong = self.memory.wants.wrong()
        if wrong is None:
            return None
        line, owner = wrong.line, self.memory.wants.errand_of(wrong.line)
        about = owner.id if owner else ""
        if wrong.quantity:
            fields = {"quantity": str(wrong.quantity), "name": _called(line)}
            return Intent("amount", about, fields)
        fields = {"name": _called(line), "reason": wrong.reason}
        notes = {"takes_out": line["id"], **self.heard_in(wrong.reason)}
        return Intent("take_out", about, fields, notes=notes)

    def _pursue(self, errand: Errand) -> Intent:
        """Go on with an errand, or with another one when this leads nowhere."""
        others = self._others(errand)
        stuck = self.memory.stalled >= self.persona.patience - 1
        if not (stuck and others and self.memory.tries[errand.id]):
            return self._step(errand)
        if isinstance(errand, ItemErrand) and errand.quantity:
            return self._give_up(errand)
        other = self._step(others[0])
        return replace(other, notes={**other.notes, "gives_up": errand.id})

    def _others(self, errand: Errand) -> list[Errand]:
        """Return what else there is to do before the order."""
        still_open = self.memory.open_errands()
        return [each for each in still_open if each.id != errand.id and not is_order(each)]

    def _step(self, errand: Errand) -> Intent:
        if not isinstance(errand, ItemErrand):
            return self._say(errand)
        if errand.quantity == 0:
            return self._drop(errand)
        if lines := self.memory.wants.lines_of(errand):
            return self._set_amount(errand, lines[0])
        if not self.memory.tries[errand.id]:
            return self._request(errand, everything=False)
        return self._take(errand) or self._do_without(errand) or self._ask_again(errand)

    def _say(self, errand: Errand) -> Intent:
        if not self.memory.tries[errand.id]:
            return Intent("say", errand.id, words=errand.say)
        insists = isinstance(errand, QuestionErrand) and self.memory.was_refused(errand)
        act = "insist" if insists else "say_again"
        said = Intent(act, errand.id, {"words": errand.say})
        item = self._nothing_asked_yet() if isinstance(errand, ChangeErrand) else None
        return said if item is None else self._request(item, everything=False).after(said)

    def _nothing_asked_yet(self) -> ItemErrand | None:
        """Return the item to start with if none was asked for: it may help with a change."""
        items = [each for each in self.memory.open_errands() if isinstance(each, ItemErrand)]
        asked = any(self.memory.tries[each.id] for each in items)
        return items[0] if items and items[0].quantity and not asked else None

    def _set_amount(self, errand: ItemErrand, line: Item) -> Intent:
        """Ask for more or less of what was in the cart from the beginning."""
        if errand.say and not self.memory.tries[errand.id]:
            return Intent("say", errand.id, words=errand.say, notes=self.heard_in(errand.say))
        return Intent(
            "amount", errand.id, {"quantity": str(errand.quantity), "name": _called(line)}
        )

    def _drop(self, errand: ItemErrand) -> Intent:
        line = self.memory.wants.lines_of(errand)[0]
        notes = {"takes_out": line["id"]}
        if errand.say and not self.memory.tries[errand.id]:
            return Intent("say", errand.id, words=errand.say, notes=notes)
        return Intent("drop", errand.id, {"name": _called(line)}, notes=notes)

    def _take(self, errand: ItemErrand) -> Intent | None:
        """Take what fits, or what may stand in for it, by its name."""
        fits = self.memory.wants.fitting(errand)
        instead = self._stand_ins(errand)
        if not fits and not instead:
            return None
        item = (fits or instead)[0]
        fields = {"what": _counted(item, errand.quantity), "name": _called(item)}
        asked = self.memory.played["hesitate", errand.id]
        if fits and asked < self.persona.hesitates and not self.memory.played["take", errand.id]:
            return Intent("hesitate", errand.id, fields)
        notes = {"item": item["id"], "instead": not fits}
        if not self.memory.played["take", errand.id]:
            return Intent("take", errand.id, fields, notes=notes)
        act = "not_seen" if Act.CLAIM in self.memory.acts else "take_again"
        return Intent(act, errand.id, fields, notes=notes)

    def _stand_ins(self, errand: ItemErrand) -> list[Item]:
        """Return what may be taken instead, once what is wanted cannot be had."""
        if not self.memory.gone[errand.id]:
            return []
        on_offer = self.memory.wants.stand_ins_on_offer(errand, self.memory.reply)
        return [item for item in on_offer if item["id"] not in self.memory.taken_out]

    def _do_without(self, errand: ItemErrand) -> Intent | None:
        """Ask for something else, or give it up, when it cannot be had."""
        sold_out = self._is_sold_out(errand)
        gone = self.memory.gone[errand.id]
        if not gone and not sold_out:
            return None
        if errand.substitute and not self.memory.played["alternatives", errand.id]:
            return Intent("alternatives", errand.id, {"noun": plural(errand.item)})
        if gone >= _TRIES_BEFORE_GIVING_UP or (sold_out and not errand.substitute):
            return self._give_up(errand)
        return None

    def _give_up(self, errand: ItemErrand) -> Intent:
        fields = {"noun": plural(errand.item)}
        return Intent("do_without", errand.id, fields, notes={"gives_up": errand.id})

    def _is_sold_out(self, errand: ItemErrand) -> bool:
        wants = self.memory.wants
        suspects = [item for item in wants.suspects(errand) if not wants.broken(errand, item)]
        return bool(suspects) and all(map(wants.is_sold_out, suspects))

    def _ask_again(self, errand: ItemErrand) -> Intent:
        heard = self.memory.about == errand.id  # else the reply is about something else
        refuses = heard and self.memory.new_screen and bool(self.memory.view.offers)
        everything = refuses or self._has_said_terms(errand)
        request = self._request(errand, everything=everything)
        if heard and Act.CLAIM in self.memory.acts:
            return request.after(Intent("nothing_there"))
        return request.after(self.none_fits(errand)) if refuses else request

    def _has_said_terms(self, errand: ItemErrand) -> bool:
        """Whether this is what the persona says by now: all that matters."""
        if self.persona.reveals is not Reveal.WHEN_WRONG:
            return True
        return any(term.say in self.memory.told for term in self.memory.wants.must(errand))

    def none_fits(self, errand: ItemErrand) -> Intent:
        """Turn down what is on the screen, for what is wrong with the first that has the name."""
        wants = self.memory.wants
        suspects = [each for each in wants.suspects(errand) if not wants.is_sold_out(each)]
        wrong = self.objection(errand, suspects[0]) if suspects else ""
        return Intent("none_fits", fields={"reason": wrong or f"I want {plural(errand.item)}"})

    def _request(self, errand: ItemErrand, *, everything: bool) -> Intent:
        first = not self.memory.tries[errand.id]
        if first and errand.say:
            return Intent("say", errand.id, words=errand.say, notes=self.heard_in(errand.say))
        tells = everything or self.persona.reveals is Reveal.ALL_AT_ONCE
        terms = self._terms(errand) if tells else ""
        fields = {"amount": _amount(errand.quantity), "noun": plural(errand.item), "terms": terms}
        notes = self.heard_in(terms)
        more = any(other for other in self.memory.tries)  # something else was asked for before
        act = ("request_more" if more else "request") if first else "request_again"
        request = Intent(act, errand.id, fields, notes=notes)
        return self._with_budget(request) if tells else request

    def _with_budget(self, request: Intent) -> Intent:
        budget = self.memory.scenario.budget
        if budget is None or "budget" in self.memory.told:
            return request
        said = {"budget": f"{budget:g}"}
        return request.after(Intent("budget", fields=said, notes={"revealed": ["budget"]}))

    def _terms(self, errand: ItemErrand) -> str:
        """Say the terms; what is only preferred is dropped when nothing was found."""
        wants: Wants = self.memory.wants
        said = [term.say for term in wants.must(errand)]
        if not self.memory.gone[errand.id]:
            said += [f"preferably {term.say}" for term in wants.would_like(errand)]
        return "".join(f", {each}" for each in dict.fromkeys(said))


def _called(item: Item) -> str:
    """Return an item's name, with its brand where the name does not tell it."""
    name, brand = str(item["name"]), str(item.get("brand") or "")
    return name if not brand or brand.casefold() in name.casefold() else f"{name} by {brand}"


def _counted(item: Item, quantity: int) -> str:
    called = _called(item)
    return f"the {called}" if quantity == 1 else f"{quantity} packs of the {called}"


def _amount(quantity: int) -> str:
    return "a pack of" if quantity == 1 else f"{quantity} packs of"
