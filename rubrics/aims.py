"""Aims: what the customer wants in the end, and which of it a failed verdict is about.

They are read from the scenario, and compared with the world's state by the same conventions as
the simulator reads it: a cart of lines with `product` and `quantity`, and fields beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from ..simulation.scenario import ChangeErrand, Errand, ItemErrand, Scenario
from ..simulation.term import Term
from ..simulation.trajectory import Trajectory
from ..simulation.nouns import likeness
from ..simulation.view import Item, View
from .checks.shop import mentions
from .subject import ConversationRecord
from .verdict import Verdict

State = Mapping[str, Any]


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
        return terms_hold and sum(line["quantity"] for line in lines) == self.quantity

    def is_line(self, line: Item) -> bool:
        """Say whether a line of the cart is the item, or stands in for it."""
        replaced = line.get("replaced_product")
        named = {"name": str(replaced), "product": str(replaced)}
        return is_kind(line, self.item) or (bool(replaced) and is_kind(named, self.item))

    def accepts(self, item: Item) -> bool:
        """Say whether no term is broken, as far as the item shows; a substitute may differ."""
        terms = self.hard if item.get("approved_substitute_for") else self.terms
        return not any(term.holds(item) is False for term in terms)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that ended otherwise than wanted.

    Attributes:
        aim: What was wanted; of an unwanted item, what was wanted when it came.
        turns: Where it can have gone wrong, the first one first; never empty.
        came_up: Whether any turn was about it; else its turns are all that there are.
        unwanted: Id of an item nobody wanted, if that is the problem.
    """

    aim: Aim
    turns: tuple[int, ...]
    came_up: bool = True
    unwanted: str = ""


def is_kind(item: Item, noun: str, sought: Sequence[str] = ()) -> bool:
    """Say whether an item is what a noun says."""
    return bool(noun) and likeness({"name": "", **item}, noun, sought) is not None


def problems(verdict: Verdict, record: ConversationRecord) -> tuple[Problem, ...]:
    """Return what a failed verdict is about, in the world's terms.

    Its rationale, else its evidence, names it; when neither does, it is all that ended otherwise
    than wanted. Empty when the state shows nothing of the kind.
    """
    if not record.trajectory.turns:
        return ()
    unmet = list(_unmet(record))
    # What never came up was not reached because of what went wrong before.
    came_up = [problem for problem in unmet if problem.came_up]
    found = [*(came_up or unmet), *_unwanted(record)]
    for said in (verdict.rationale, "\n".join(verdict.evidence)):
        named = [problem for problem in found if _is_named(problem, said, record)]
        if named:
            return tuple(_located(each, verdict.turn) for each in named)
    return tuple(_located(each, verdict.turn) for each in found)


def aims_of(record: ConversationRecord) -> tuple[Aim, ...]:
    """Return what the customer wants in the end: errands, then what else the scenario expects."""
    final = record.scenario.final
    aims = [_aim(errand, final) for errand in final.errands]
    known = {name for aim in aims if aim is not None for name in aim.reached}
    state = record.trajectory.final_state
    expected = [
        Aim(reached={name: value}, words=(str(value),))
        for name, value in final.expected.items()
        if name in state and name not in known and isinstance(value, str | bool)
    ]
    return (*(aim for aim in aims if aim is not None), *expected)


def asks_for(aim: Aim, message: str, items: Iterable[Item]) -> bool:
    """Say whether a message names what an aim is about, or one of the items that answer it."""
    names = (str(item["name"]) for item in items if aim.item and is_kind(item, aim.item))
    return any(mentions(message, word) for word in (*aim.words, *names) if word)


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


def _unmet(record: ConversationRecord) -> Iterator[Problem]:
    trajectory = record.trajectory
    for aim in aims_of(record):
        if not aim.met_in(trajectory.final_state):
            turns = _turns_of(aim, trajectory)
            every = tuple(range(len(trajectory.turns)))
            yield Problem(aim, turns or every, came_up=bool(turns))


def _turns_of(aim: Aim, trajectory: Trajectory) -> tuple[int, ...]:
    """Return the turns that were about an aim, or changed what it is about, and left it unmet."""
    states = [trajectory.initial_state, *(turn.state for turn in trajectory.turns)]
    open_ = [turn for turn, state in enumerate(states[1:]) if not aim.met_in(state)]
    changed = [
        turn
        for turn, (before, after) in enumerate(pairwise(states))
        if _shown_of(aim, before) != _shown_of(aim, after)
    ]
    items = View.of(trajectory).known.values()
    spoken = list(enumerate(trajectory.turns))
    named = [index for index, turn in spoken if asks_for(aim, turn.message, items)]
    meant = [index for index, turn in spoken if turn.notes.get("errand", "") == aim.errand]
    return tuple(turn for turn in open_ if turn in changed or turn in (named or meant))


def _shown_of(aim: Aim, state: State) -> list[Any]:
    if not aim.item:
        return [state.get(name) for name in aim.reached]
    return [
        (line.get("product_id"), line["quantity"])
        for line in state.get("cart") or ()
        if aim.is_line(line)
    ]


def _unwanted(record: ConversationRecord) -> Iterator[Problem]:
    """Yield the lines that came into the cart and answer no aim."""
    trajectory = record.trajectory
    wanted = aims_of(record)
    states = [trajectory.initial_state, *(turn.state for turn in trajectory.turns)]
    for line in trajectory.final_state.get("cart") or ():
        id_ = str(line.get("product_id"))
        units = [_units(state, id_) for state in states]
        came = [turn for turn, (old, new) in enumerate(pairwise(units)) if new > old]
        if came and not any(aim.item and aim.is_line(line) for aim in wanted):
            turn = came[-1]
            said = trajectory.turns[turn].message
            about = [aim for aim in wanted if asks_for(aim, said, View.of(trajectory).known.values())]
            yield Problem(about[0] if about else Aim(), (turn,), unwanted=id_)


def _units(state: State, id_: str) -> float:
    lines = [line for line in state.get("cart") or () if line.get("product_id") == id_]
    return sum(line["quantity"] for line in lines)


def _located(problem: Problem, turn: int | None) -> Problem:
    """Leave out what came after the turn in which the judge sees it go wrong."""
    before = [each for each in problem.turns if turn is None or each <= turn]
    return replace(problem, turns=tuple(before)) if before else problem


def _is_named(problem: Problem, said: str, record: ConversationRecord) -> bool:
    known = View.of(record.trajectory).known
    if problem.unwanted:
        names = [str(known[problem.unwanted]["name"])]
    elif problem.aim.item:
        names = [problem.aim.item]
    else:
        names = [*problem.aim.reached, *(str(each) for each in problem.aim.reached.values())]
    return any(mentions(said, name) for name in names)


_WORD = re.compile(r"[^\W\d_]{3,}")


def names_of(term: Term, scenario: Scenario) -> tuple[str, ...]:
    """Return how a term may be said: its value, the customer's words, and facts that say it."""
    said = {word for text in (term.say, str(term.value)) for word in _words(text)} - _words(
        term.field
    )
    facts = [
        text
        for fact in scenario.facts
        if said & _words(fact.value)
        for text in (fact.value, fact.say)
        if text
    ]
    return (str(term.value), term.say, *facts)


def _words(text: str) -> set[str]:
    return {word.casefold().removesuffix("s") for word in _WORD.findall(text.replace("_", " "))} - {
        "free",
        "from",
        "most",
        "each",
    }
