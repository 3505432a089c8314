"""What the customer remembers: read from the conversation at every turn, never kept beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...acts import Act, read_acts
from ...nouns import words
from ...scenario import Errand, ItemErrand, QuestionErrand, Scenario, StatementErrand
from ...trajectory import Trajectory, Turn
from ...view import View
from ...wants import Wants, quantity_of

ANSWERED = "answered"
REFUSED = "refused"


@dataclass(slots=True)
class Memory:
    """Where the conversation stands.

    Attributes:
        whole: The scenario with all its revisions to come.
        saves: Whether the persona looks for the cheapest.
        view: What is to be seen.
        initial: What was in the cart at first: quantities by item id.
        messages: What the customer said, oldest first.
        acts: What the last reply does.
        reply: The last reply.
        about: Id of the errand that the last message was about, if any.
        new_screen: Whether the last reply put other things on the screen.
        revisions: How many of the revisions were said.
        tries: How often each errand was brought up.
        gone: How often an errand's item was said not to be had.
        given_up: Ids of errands given up.
        stand_ins: Ids of the items taken instead, by errand.
        lacking: Ids of items that were to be taken, and of which there are too few.
        taken_out: Ids of items that the customer wanted out of the cart.
        told: Names and words of what was revealed.
        played: How often each act was played for each errand.
        settled: How a question errand ended: `answered` or `refused`.
        refusals: How often a question errand was refused.
        stalled: Turns in a row without progress.
        leaving: Whether the customer said that they give up.
    """

    whole: Scenario
    saves: bool
    view: View
    initial: Mapping[str, int]
    messages: list[str] = field(default_factory=list)
    acts: frozenset[Act] = frozenset()
    reply: str = ""
    about: str = ""
    new_screen: bool = False
    revisions: int = 0
    tries: Counter[str] = field(default_factory=Counter)
    gone: Counter[str] = field(default_factory=Counter)
    given_up: set[str] = field(default_factory=set)
    stand_ins: dict[str, frozenset[str]] = field(default_factory=dict)
    lacking: set[str] = field(default_factory=set)
    taken_out: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    played: Counter[tuple[str, str]] = field(default_factory=Counter)
    settled: dict[str, str] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    stalled: int = 0
    leaving: bool = False
    _achieved: set[tuple[str, ...]] = field(default_factory=set)

    @classmethod
    def of(cls, scenario: Scenario, so_far: Trajectory, *, saves: bool = False) -> Memory:
        """Read a conversation from its start."""
        view = View.at_start(so_far.initial_state)
        initial = {line["id"]: quantity_of(line) for line in view.cart}
        memory = cls(scenario, saves, view, initial)
        memory._achieved = memory._achievements()
        for turn in so_far.turns:
            memory._read(turn)
        return memory

    @property
    def scenario(self) -> Scenario:
        """The scenario with the revisions that were said."""
        return self.whole.revised(self.whole.revisions[: self.revisions])

    @property
    def wants(self) -> Wants:
        """What is wanted by now, less what was given up, and what is to be seen."""
        now = self.scenario
        left = tuple(errand for errand in now.errands if errand.id not in self.given_up)
        return Wants(
            now.model_copy(update={"errands": left}),
            self.view,
            self.initial,
            self.stand_ins,
            self.saves,
            frozenset(self.lacking),
        )

    def is_over(self, errand: Errand) -> bool:
        """Whether nothing more is to be done about an errand."""
        if errand.id in self.given_up:
            return True
        if isinstance(errand, StatementErrand):
            return self.tries[errand.id] > 0
        if isinstance(errand, QuestionErrand):
            return errand.id in self.settled
        return self.wants.is_done(errand)

    def was_refused(self, errand: Errand) -> bool:
        """Whether what was asked for was refused at least once, which tells enough."""
        return self.refusals[errand.id] > 0

    def open_errands(self) -> list[Errand]:
        """Return the errands with something left to do, in order."""
        return [errand for errand in self.scenario.errands if not self.is_over(errand)]

    def _read(self, turn: Turn) -> None:
        self.messages.append(turn.message)
        before = [item["id"] for item in self.view.offers]
        self.view = self.view.after(turn)
        self.new_screen = [item["id"] for item in self.view.offers] != before
        self.reply, self.acts = turn.reply.text, read_acts(turn.reply)
        notes = turn.notes if "act" in turn.notes else self._guessed(turn.message)
        self._recall(notes, turn.message)
        self.about = str(notes.get("errand", ""))
        self._listen(self.about, str(notes.get("item", "")))
        now = self._achievements()
        self.stalled = 0 if now - self._achieved else self.stalled + 1
        self._achieved |= now

    def _guessed(self, message: str) -> Mapping[str, Any]:
        """Return what somebody meant who left no notes, such as the customer of a logged turn."""
        next_ = self.whole.revisions[self.revisions : self.revisions + 1]
        revision = any(_mentions(message, each.say) for each in next_)
        about = (
            each.id
            for each in self.scenario.errands
            if _mentions(message, each.item if isinstance(each, ItemErrand) else each.say)
        )
        return {"act": "say", "revision": revision, "errand": next(about, "")}

    def _recall(self, notes: Mapping[str, Any], message: str) -> None:
        """Take over what the customer meant; see `Intent.notes`."""
        act, errand = str(notes.get("act", "")), str(notes.get("errand", ""))
        self.revisions += bool(notes.get("revision"))
        self.tries[errand] += 1
        if act == "say":  # words of the scenario's, which may be about several items
            named = (each for each in self.wants.item_errands if _mentions(message, each.item))
            self.tries.update(each.id for each in named if each.id != errand)
        self.played[act, errand] += 1
        self.told |= set(notes.get("revealed", ()))
        self.leaving = self.leaving or bool(notes.get("leaving"))
        if notes.get("gives_up"):
            self.given_up.add(str(notes["gives_up"]))
        if notes.get("instead"):
            taken = frozenset({str(notes.get("item", ""))})
            self.stand_ins[errand] = self.stand_ins.get(errand, frozenset()) | taken
        if notes.get("takes_out"):
            self.taken_out.add(str(notes["takes_out"]))

    def _listen(self, errand_id: str, taken: str) -> None:
        """Take over what the reply says about the errand, and the item, that it answers."""
        if taken and Act.NOT_FOUND in self.acts:
            self.lacking.add(taken)
        errand = next((each for each in self.scenario.errands if each.id == errand_id), None)
        match errand:
            case QuestionErrand():
                self._hear_answer(errand)
            case ItemErrand() if _mentions(self.messages[-1], errand.item):
                if Act.NOT_FOUND in self.acts and not self.wants.fitting(errand):
                    self.gone[errand_id] += 1

    def _hear_answer(self, errand: QuestionErrand) -> None:
        """Take an answer for one; evading what has to be refused is neither this nor that."""
        heard = self.reply.casefold()
        says_it = any(word.casefold() in heard for word in errand.about)
        states = Act.INFORM in self.acts and Act.NOT_FOUND not in self.acts
        if Act.REFUSE in self.acts:
            self.refusals[errand.id] += 1
            if self.refusals[errand.id] > errand.insists:
                self.settled[errand.id] = REFUSED
        elif states and (says_it or (not errand.about and errand.expects == "answer")):
            self.settled[errand.id] = ANSWERED

    def _achievements(self) -> set[tuple[str, ...]]:
        """Return everything so far that is progress the first time it comes about."""
        wants = self.wants
        found = {("over", each.id) for each in self.scenario.errands if self.is_over(each)}
        found |= {("told", name) for name in self.told} | {("revised", str(self.revisions))}
        found |= {("gone", each) for each in self.gone}
        in_cart = {line["id"] for line in self.view.cart}
        found |= {("out", id_) for id_ in self.taken_out - in_cart}
        for errand in wants.item_errands:
            found |= {("fits", errand.id, item["id"]) for item in wants.fitting(errand)}
            if errand.quantity:
                lines = wants.lines_of(errand)
                right = (line for line in lines if not wants.broken(errand, line))
                found |= {("in cart", errand.id, line["id"]) for line in right}
        return found


def _mentions(message: str, said: str) -> bool:
    """Whether the words occur in a message in this order, in the singular or the plural."""
    return f" {' '.join(words(said))} " in f" {' '.join(words(message))} "
