"""Tracing: who, in a turn that went wrong, first received what was right and returned what is wrong.

Four things can be seen in a call: a field that the customer's words should fill is empty or says
something else; an item was chosen although a right one was there; nothing was chosen although a
right one was there; a value was made up. Whoever never received a fact is excused, and the agent
that received it and did not pass it on is at fault instead. When nobody who was asked did
anything wrong and nobody dealt with the wish, the one that decided whom to ask is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..simulation.term import Term
from ..simulation.view import Item, View
from .aims import Aim, Problem, asks_for, is_kind, names_of
from .checks.shop import mentions
from .flow import Step, first_said_by, leaves, steps_of
from .subject import ConversationRecord

_SHORTEST_VALUE = 3


@dataclass(frozen=True, slots=True)
class Suspect:
    """An agent at fault in one turn, and what shows it."""

    agent: str
    turn: int
    reason: str
    received: Mapping[str, Any] = field(default_factory=dict)
    returned: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def at(cls, step: Step, reason: str) -> Suspect:
        """Blame the agent of a step."""
        return cls(step.agent, step.turn, reason, step.call.inputs, step.call.outputs)


@dataclass(frozen=True, slots=True)
class Lead:
    """What one step shows: its agent is at fault, or it lacked a fact."""

    step: Step
    reason: str = ""
    lacked: Term | None = None


@dataclass(frozen=True, slots=True)
class Tracer:
    """Looks into the turns of one conversation.

    Attributes:
        record: The conversation.
        view: The view at its end.
        agents: Names of all agents that may be asked.
    """

    record: ConversationRecord
    view: View
    agents: frozenset[str]

    def suspect(self, problem: Problem, turn: int) -> tuple[Suspect | None, frozenset[str]]:
        """Return who is at fault in a turn, and who is excused for never having received a fact."""
        aim = self._with_terms(problem.aim)
        steps = steps_of(self.record.trajectory, turn, self.view)
        for step in steps:
            made_up = self._made_up(aim, step)
            if made_up is not None:
                return made_up, frozenset()
        lead = self._first_lead(aim, steps) if self._wants_something(aim) else None
        if lead is None:
            return self._without_lead(aim, problem, steps), frozenset()
        if lead.lacked is None:
            return Suspect.at(lead.step, lead.reason), frozenset()
        excused = frozenset([lead.step.agent])
        return self._kept_back(lead.lacked, lead.step, steps, turn), excused

    def _first_lead(self, aim: Aim, steps: tuple[Step, ...]) -> Lead | None:
        """Return the first wrong choice; before it, a misreading that left no right choice."""
        for place, step in enumerate(steps):
            choosable = any(self._right_options(aim, later) for later in steps[place:])
            rules = (self._chose_wrong, self._left_undone) if choosable else (self._misread,)
            for rule in rules:
                lead = rule(aim, step)
                if lead is not None and self._heard_the_wish(aim, step):
                    return lead
        return None

    def _without_lead(
        self, aim: Aim, problem: Problem, steps: tuple[Step, ...]
    ) -> Suspect | None:
        """Blame who asked the wrong agent, else who was the first to choose what is unwanted."""
        if not any(self._dealt_with(aim, step) for step in steps):
            for step in steps:
                asked = self._asked(step)
                if asked:
                    said = f"It chose '{asked}', and nobody who was asked dealt with the wish."
                    return Suspect.at(step, said)
        for step in steps:
            if problem.unwanted in step.chosen:
                return Suspect.at(step, "It was the first to choose what nobody wanted.")
        return None

    # What a step shows

    def _misread(self, aim: Aim, step: Step) -> Lead | None:
        """Find a field of the answer that a fact should fill and does not."""
        for name, value in step.call.outputs.items():
            if name in aim.reached and value == "" and not aim.terms:
                return Lead(step, f"It left its '{name}' empty.")
            if name == "product" and aim.item and not self._may_mean(aim, str(value)):
                return Lead(step, f"It understood '{value}' where '{aim.item}' was wanted.")
            for term in aim.terms:
                if _concerns(name, term) and not _satisfies(value, term):
                    said = f"Its '{name}' is {value!r}, although it was told '{term.say}'."
                    return self._lead(step, term, said)
        return None

    def _chose_wrong(self, aim: Aim, step: Step) -> Lead | None:
        """Find a choice that is wrong although a right one was among the options."""
        chosen = step.chosen
        right = self._right_options(aim, step)
        if not chosen or not right:
            return None
        if not set(chosen) & set(right):
            name = step.options[chosen[0]]["name"]
            said = f"It chose {name}, although {step.options[right[0]]['name']} was there."
            broken = self._broken(aim, step.options[chosen[0]])
            return self._lead(step, broken, said)
        units = _units(step.call.outputs, right)
        if aim.item and aim.quantity and units and units != aim.quantity:
            return Lead(step, f"It returned {units:g} units where {aim.quantity} were wanted.")
        return None

    def _left_undone(self, aim: Aim, step: Step) -> Lead | None:
        right = self._right_options(aim, step)
        if step.chosen or not right or self._asked(step):
            return None
        name = step.options[right[0]]["name"]
        return Lead(step, f"It had {name} before it and returned nothing of it.")

    def _lead(self, step: Step, term: Term | None, said: str) -> Lead:
        if term is None or step.heard(names_of(term, self.record.scenario)):
            return Lead(step, said)
        return Lead(step, lacked=term)

    def _made_up(self, aim: Aim, step: Step) -> Suspect | None:
        """Find a text that narrowed a tool's work down and that an agent made up."""
        used = {value for arguments in step.used for value in leaves(arguments)}
        for name, value in step.call.outputs.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, str) and each in used and self._narrows(aim, name, each):
                    source = self._made_up_by(each)
                    if source is not None:
                        return source
        return None

    def _narrows(self, aim: Aim, name: str, value: str) -> bool:
        """Say whether a value narrows things down, and not to what was wanted."""
        if name == "product" or value in self.view.known:
            return False
        return not any(_satisfies(value, term) for term in aim.terms if _concerns(name, term))

    def _made_up_by(self, value: str) -> Suspect | None:
        """Return who made up every word of a value; a word that somebody said explains it."""
        sources = [first_said_by(word, self.record.trajectory) for word in _long(value)]
        made_up = [source for source in sources if source is not None]
        if not made_up or len(made_up) < len(sources):
            return None
        turn, call = made_up[0]
        said = f"'{value}' comes from it; nobody had said so."
        return Suspect(call.agent, turn, said, call.inputs, call.outputs)

    # Facts

    def _kept_back(
        self, term: Term, lacking: Step, steps: tuple[Step, ...], turn: int
    ) -> Suspect | None:
        """Return the agent that received a fact and did not pass it on to the one that lacks it."""
        words = names_of(term, self.record.scenario)
        before = steps[: steps.index(lacking)]
        for step in before:
            if step.heard(words) and not step.said(words) and step.feeds(lacking):
                said = f"It received '{term.say}' and did not pass it on to {lacking.agent}."
                return Suspect.at(step, said)
        for earlier in range(turn - 1, -1, -1):
            if any(map(self.record.trajectory.turns[earlier].message.count, words)):
                return self._forgotten(term, words, earlier)
        return None

    def _forgotten(self, term: Term, words: tuple[str, ...], turn: int) -> Suspect | None:
        """Return the agent that was told a fact in an earlier turn and kept nothing of it."""
        steps = steps_of(self.record.trajectory, turn, self.view)
        if any(step.said(words) and not self._is_last(step, steps) for step in steps):
            return None
        for step in steps[:-1]:
            if step.heard(words) and not any(leaves(step.call.outputs)):
                return Suspect.at(step, f"It was told '{term.say}' and kept nothing of it.")
        for step in steps:
            if self._asked(step):
                said = f"It heard '{term.say}', and nobody whom it asked kept that."
                return Suspect.at(step, said)
        return None

    def _is_last(self, step: Step, steps: tuple[Step, ...]) -> bool:
        return step is steps[-1]

    def _heard_the_wish(self, aim: Aim, step: Step) -> bool:
        message = self.record.trajectory.turns[step.turn].message
        return message in step.received or asks_for(aim, step.received, self.view.known.values())

    def _asked(self, step: Step) -> str:
        """Return the agent that a step decided to ask; empty when it decides no such thing."""
        given = set(leaves(step.call.inputs))
        for value in leaves(step.call.outputs):
            if value in self.agents and value not in given:
                return str(value)
        return ""

    def _dealt_with(self, aim: Aim, step: Step) -> bool:
        if not self._wants_something(aim):
            return False
        chose_right = bool(set(step.chosen) & set(self._right_options(aim, step)))
        product = step.call.outputs.get("product")
        return chose_right or bool(
            aim.item and product and self._may_mean(aim, str(product))
        )

    # Items

    def _right_options(self, aim: Aim, step: Step) -> tuple[str, ...]:
        return tuple(
            id_
            for id_, item in step.options.items()
            if aim.item
            and item.get("in_stock") is not False
            and self._is_item(aim, id_, item)
            and self._broken(aim, item) is None
        )

    def _is_item(self, aim: Aim, id_: str, item: Item) -> bool:
        """Say whether an option is the wanted item: by its noun, else by what it was found as."""
        if item.get("product"):
            return is_kind(item, aim.item)
        sought = self.view.sought.get(id_, frozenset())
        return is_kind(item, aim.item) or any(self._may_mean(aim, noun) for noun in sought)

    def _broken(self, aim: Aim, item: Item) -> Term | None:
        return next((term for term in aim.terms if term.holds(item) is False), None)

    def _may_mean(self, aim: Aim, noun: str) -> bool:
        """Say whether a noun may stand for the wanted item: it is like it, or the customer's own."""
        alike = set(_long(noun)) & set(_long(aim.item))
        return bool(alike) or any(mentions(words, noun) for words in aim.words if noun)

    def _wants_something(self, aim: Aim) -> bool:
        return bool(aim.item or aim.terms)

    def _with_terms(self, aim: Aim) -> Aim:
        """Return an aim about the state with terms on items, by the names the state's values have."""
        if aim.item:
            return aim
        terms = tuple(
            Term(field=name, operator="is", value=said, say=said)
            for name, value in aim.reached.items()
            if isinstance(value, str) and (said := self._name(name, value, aim))
        )
        return Aim(aim.errand, hard=terms, reached=aim.reached, words=aim.words)

    def _name(self, field_: str, value: str, aim: Aim) -> str:
        """Return what people call a value of the state, such as a shop's name for its id."""
        facts = [fact.value for fact in self.record.scenario.facts if field_ in fact.name]
        shown = [str(self.view.known[value]["name"])] if value in self.view.known else []
        seen = {str(item[field_]) for item in self.view.known.values() if field_ in item}
        said = [name for name in sorted(seen) if any(name in words for words in aim.words)]
        return next(iter([*facts, *shown, *said]), "")


def _long(text: str) -> list[str]:
    return [word for word in text.casefold().split() if len(word) >= _SHORTEST_VALUE]


def _concerns(name: str, term: Term) -> bool:
    """Say whether a field is the term's: `brand`, `max_price` for `price`, `store_type`, `store`."""
    return name == term.field or name.endswith(f"_{term.field}") or term.field == f"{name}_type"


_FITS: Mapping[str, Callable[[object, str | float], bool]] = {
    "at_most": lambda found, value: isinstance(found, int | float) and 0 < found <= float(value),
    "at_least": lambda found, value: isinstance(found, int | float) and found >= float(value),
}


def _satisfies(value: object, term: Term) -> bool:
    """Say whether a field of an answer says what a term asks for."""
    if term.operator in _FITS:
        return _FITS[term.operator](value, term.value)
    return term.holds({term.field: [value] if _is_one_of_many(value, term) else value}) is not False


def _is_one_of_many(value: object, term: Term) -> bool:
    return isinstance(value, str) and term.operator in ("includes", "excludes")


def _units(value: object, ids: tuple[str, ...]) -> float:
    """Add up the quantities that are said beside one of some ids."""
    return sum(
        each["quantity"]
        for each in _mappings(value)
        if isinstance(each.get("quantity"), int | float) and set(ids) & _own(each)
    )


def _own(value: Mapping[str, Any]) -> set[str]:
    return {each for each in value.values() if isinstance(each, str)}


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    match value:
        case Mapping():
            yield value
            for inner in value.values():
                yield from _mappings(inner)
        case list() | tuple():
            for inner in value:
                yield from _mappings(inner)
