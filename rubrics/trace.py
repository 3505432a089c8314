"""Tracing: who was the first in a turn to receive what is right and return what is wrong.

Four things can be seen in a call: a field that the customer's words should fill is empty or says
something else; an item was chosen although a right one was there; nothing was chosen although a
right one was there; a value was made up. Whoever never received a fact is excused, and the agent
that received it and did not pass it on is at fault instead. When nobody who was asked did
anything wrong and nobody dealt with the wish, the one that decided whom to ask is at fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..simulation.term import Term
from ..simulation.view import View
from .aims import Aim, names_of
from .checks.shop import mentions
from .flow import Step, first_said_by, leaves, steps_of
from .problems import Problem
from .reading import Reading, concerns, satisfies
from .subject import ConversationRecord
from .told import aim_as_told

_SHORTEST_WORD = 3


@dataclass(frozen=True, slots=True)
class Suspect:
    """An agent at fault in one turn, what shows it, and the call that shows it."""

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
        aim = aim_as_told(problem.aim, self.record, self.view, turn)
        steps = self._steps(turn)
        made_up = next((found for step in steps if (found := self._made_up(aim, step))), None)
        if made_up is not None:
            return made_up, frozenset()
        reading = Reading(aim, self.record, self.view)
        handlers = [step for step in steps if not self._asks(step)]
        lead = reading.first_lead(handlers)
        if lead is None:
            dealt_with = any(reading.dealt_with(step) for step in steps)
            wrong_agent = None if dealt_with else self._asked_the_wrong_one(steps)
            return wrong_agent or _first_to_choose(problem.unwanted, steps), frozenset()
        if lead.lacked is None:
            return Suspect.at(lead.step, lead.reason), frozenset()
        return self._kept_back(lead.lacked, lead.step, steps), frozenset([lead.step.agent])

    def _steps(self, turn: int) -> tuple[Step, ...]:
        return steps_of(self.record.trajectory, turn, self.view)

    def _made_up(self, aim: Aim, step: Step) -> Suspect | None:
        """Return who made up a text that narrows a tool's work down."""
        used = {value for arguments in step.used for value in leaves(arguments)}
        for name, value in step.call.outputs.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, str) and each in used and self._narrows(aim, name, each):
                    source = self._source(each)
                    if source is not None:
                        return source
        return None

    def _narrows(self, aim: Aim, name: str, value: str) -> bool:
        """Say whether a value narrows things down, and not to what was wanted."""
        if name == "product" or value in self.view.known:
            return False
        return not any(satisfies(value, term) for term in aim.terms if concerns(name, term))

    def _source(self, value: str) -> Suspect | None:
        """Return who made up every word of a value; a word that somebody said explains it."""
        words = [word for word in value.casefold().split() if len(word) >= _SHORTEST_WORD]
        sources = [first_said_by(word, self.record.trajectory) for word in words]
        made_up = [source for source in sources if source is not None]
        if not made_up or len(made_up) < len(sources):
            return None
        turn, call = made_up[0]
        said = f"'{value}' comes from it; nobody had said so."
        return Suspect(call.agent, turn, said, call.inputs, call.outputs)

    def _kept_back(self, term: Term, lacking: Step, steps: Sequence[Step]) -> Suspect | None:
        """Return the agent that received a fact and did not pass it on to the one that lacks it."""
        words = names_of(term, self.record.scenario)
        for step in steps[: steps.index(lacking)]:
            if step.heard(words) and not step.said(words) and step.feeds(lacking):
                said = f"It received '{term.say}' and did not pass it on to {lacking.agent}."
                return Suspect.at(step, said)
        for turn in range(lacking.turn - 1, -1, -1):
            message = self.record.trajectory.turns[turn].message
            if any(mentions(message, word) for word in words):
                return self._forgotten(term, words, self._steps(turn))
        return None

    def _forgotten(
        self, term: Term, words: tuple[str, ...], steps: Sequence[Step]
    ) -> Suspect | None:
        """Return who, in the turn in which a fact was said, kept nothing of it."""
        if any(step.said(words) for step in steps[:-1]):
            return None
        for step in steps[:-1]:
            if step.heard(words) and not any(leaves(step.call.outputs)):
                return Suspect.at(step, f"It was told '{term.say}' and kept nothing of it.")
        return self._asked_the_wrong_one(steps)

    def _asked_the_wrong_one(self, steps: Sequence[Step]) -> Suspect | None:
        for step in steps:
            if asked := self._asks(step):
                said = f"It chose '{asked}', and nobody who was asked dealt with the wish."
                return Suspect.at(step, said)
        return None

    def _asks(self, step: Step) -> str:
        """Return the agent that a step decided to ask; empty when it decides no such thing."""
        given = set(leaves(step.call.inputs))
        for value in leaves(step.call.outputs):
            if value in self.agents and value not in given:
                return str(value)
        return ""


def _first_to_choose(unwanted: str, steps: Sequence[Step]) -> Suspect | None:
    for step in steps:
        if unwanted in step.chosen:
            return Suspect.at(step, "It was the first to choose what nobody wanted.")
    return None
