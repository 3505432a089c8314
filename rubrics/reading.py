"""Reading: what one agent's call shows about a wish: misread, chosen wrongly, left undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..simulation.term import Term
from ..simulation.view import Item, View
from .aims import Aim, answers, asks_for, may_mean, names_of
from .flow import Step, leaves
from .subject import ConversationRecord


@dataclass(frozen=True, slots=True)
class Lead:
    """What one step shows: its agent is at fault, or it lacked a fact."""

    step: Step
    reason: str = ""
    lacked: Term | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads the steps of a turn for one aim.

    By the conventions of a world's state, an answer's field is about a term when it has the
    term's name, `product` says which item is meant, and `quantity` beside an id how many of it.

    Attributes:
        aim: What was wanted, with the terms that could be known.
        record: The conversation.
        view: The view at its end.
    """

    aim: Aim
    record: ConversationRecord
    view: View

    def first_lead(self, steps: Sequence[Step]) -> Lead | None:
        """Return the first wrong choice; before it, a misreading that left no right choice."""
        for place, step in enumerate(steps):
            if not self._heard_the_wish(step):
                continue
            if any(self._right_options(later) for later in steps[place:]):
                lead = self._wrong_choice(step) or self._nothing_done(step)
            else:
                lead = self._misreading(step)
            if lead is not None:
                return lead
        return None

    def dealt_with(self, step: Step) -> bool:
        """Say whether a step did what the wish needed of it."""
        said = step.call.outputs
        if set(step.chosen) & set(self._right_options(step)):
            return True
        if self.aim.item:
            return bool(said.get("product")) and may_mean(self.aim, str(said["product"]))
        return any(
            bool(value) and concerns(name, term) and satisfies(value, term)
            for name, value in said.items()
            for term in self.aim.terms
        )

    def _misreading(self, step: Step) -> Lead | None:
        """Find a field of the answer that a fact should fill and does not."""
        for name, value in step.call.outputs.items():
            terms = [term for term in self.aim.terms if concerns(name, term)]
            if name in self.aim.reached and value == "" and not terms:
                return Lead(step, f"It left its '{name}' empty.")
            if name == "product" and self._is_another_item(value):
                said = f"It understood '{value}' where '{self.aim.item}' was wanted."
                return Lead(step, said)
            for term in terms:
                if not satisfies(value, term):
                    said = f"Its '{name}' is {value!r}, although it was told '{term.say}'."
                    return self._lead(step, term, said)
        return None

    def _is_another_item(self, noun: object) -> bool:
        wants_some = bool(self.aim.item and self.aim.quantity)
        return wants_some and not may_mean(self.aim, str(noun))

    def _wrong_choice(self, step: Step) -> Lead | None:
        """Find a choice that is wrong although a right one was among the options."""
        right = self._right_options(step)
        if not step.chosen or not right:
            return None
        if not set(step.chosen) & set(right):
            item, other = step.options[step.chosen[0]], step.options[right[0]]
            broken = self._broken(item)
            term = f", which is '{broken.say}'" if broken else ""
            said = f"It chose {item['name']}, although {other['name']} was there{term}."
            return self._lead(step, broken, said)
        units = _units(step.call.outputs, set(right))
        if self.aim.quantity and units and units != self.aim.quantity:
            said = f"It returned {units:g} units where {self.aim.quantity} were wanted."
            return Lead(step, said)
        return None

    def _nothing_done(self, step: Step) -> Lead | None:
        right = self._right_options(step)
        if step.chosen or not right:
            return None
        name = step.options[right[0]]["name"]
        return Lead(step, f"It had {name} before it and returned nothing of it.")

    def _lead(self, step: Step, term: Term | None, said: str) -> Lead:
        if term is None or step.heard(names_of(term, self.record.scenario)):
            return Lead(step, said)
        return Lead(step, lacked=term)

    def _heard_the_wish(self, step: Step) -> bool:
        message = self.record.trajectory.turns[step.turn].message
        return message in step.received or asks_for(self.aim, step.received, self.view)

    def _right_options(self, step: Step) -> tuple[str, ...]:
        return tuple(
            id_
            for id_, item in step.options.items()
            if item.get("in_stock") is not False
            and answers(self.aim, id_, self.view)
            and self._broken(item) is None
        )

    def _broken(self, item: Item) -> Term | None:
        return next((term for term in self.aim.terms if term.holds(item) is False), None)


def concerns(name: str, term: Term) -> bool:
    """Say whether a field is the term's, as `max_price` for `price`, `store` for `store_type`."""
    return name == term.field or name.endswith(f"_{term.field}") or term.field == f"{name}_type"


def satisfies(value: object, term: Term) -> bool:
    """Say whether a field of an answer says what a term asks for."""
    match term.operator:
        case "at_most":
            return isinstance(value, int | float) and 0 < value <= float(term.value)
        case "at_least":
            return isinstance(value, int | float) and value >= float(term.value)
        case "includes" | "excludes":
            values = value if isinstance(value, list | tuple) else [value]
            return term.holds({term.field: values}) is not False
        case _:
            return term.holds({term.field: value}) is not False


def _units(value: object, ids: set[str]) -> float:
    """Add up the quantities that are said beside one of some ids."""
    return sum(
        quantity
        for each in _mappings(value)
        if isinstance(quantity := each.get("quantity"), int | float)
        and any(own in ids for own in leaves(list(each.values())))
    )


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the innermost mappings of a JSON value, and the mappings of scalars."""
    match value:
        case Mapping():
            yield value
            for inner in value.values():
                yield from _mappings(inner)
        case list() | tuple():
            for inner in value:
                yield from _mappings(inner)
