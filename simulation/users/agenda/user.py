"""Customers who work through an agenda, without any model (agenda-based user simulation).

After Schatzmann et al., "Agenda-Based User Simulation for Bootstrapping a POMDP Dialogue
System" (NAACL 2007): the goal is a scenario, the agenda is what is left to be said about it, and
what the assistant does decides what comes on top. Here the agenda is no hidden state: every turn
it is worked out anew from the conversation, in which each turn's notes say what was meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....agents.fingerprint import fingerprint
from ...acts import pending_question
from ...persona import Persona, load_personas, persona_called
from ...scenario import Outcome, Scenario
from ...trajectory import StopReason, Trajectory
from ...user import Say, Stop, UserMove
from .answers import Answers
from .intent import Intent
from .memory import Memory
from .phrasing import Phrasing
from .pursue import Agenda

VERSION = 1
"""Counts up when the same scenario and seed lead to other words."""

_ANNOYED_AFTER = 2


@dataclass(frozen=True)
class AgendaUsers:
    """Customers who pursue their scenario by rules.

    They say only what the scenario or the screen says, take nothing that breaks a term that must
    hold, believe the state rather than the reply, and leave no question unanswered.

    Attributes:
        personas: By name; the built-in ones unless given.
    """

    personas: Mapping[str, Persona] = field(default_factory=load_personas)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The rules' version, and everything the words are made of."""
        spoken = {
            name: {**persona.model_dump(mode="json"), "phrases": dict(Phrasing.of(persona).phrases)}
            for name, persona in self.personas.items()
        }
        return {"user": "agenda", "version": VERSION, "personas": fingerprint(spoken)}

    def start(self, scenario: Scenario, seed: int) -> AgendaUser:
        """Return a customer.

        Raises:
            UsageError: There is no such persona, or its phrases cannot be used.
        """
        persona = persona_called(scenario.persona, self.personas)
        return AgendaUser(scenario, persona, Phrasing.of(persona), seed)


@dataclass(frozen=True, slots=True)
class AgendaUser:
    """One customer; a function of the conversation, with nothing to remember beside it."""

    scenario: Scenario
    persona: Persona
    phrasing: Phrasing
    seed: int

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        """Say the next thing, or leave; see `User.next`."""
        memory = Memory.of(self.scenario, so_far, saves=self.persona.saves)
        question = pending_question(so_far)
        meant = self._decide(memory, question)
        if meant is None:
            return Stop(_reason(memory))
        opener = self._opener(memory, meant, question)
        seed = f"{self.scenario.seed}:{self.seed}:{len(so_far.turns)}:{len(objections)}"
        message = self.phrasing.put(meant, memory.messages, seed, opener)
        return Say(message, meant.all_notes())

    def _decide(self, memory: Memory, question: str) -> Intent | None:
        """Return what to say; None to leave."""
        agenda = Agenda(memory, self.persona)
        if not memory.messages:
            return self._first_words(agenda)
        out_of_patience = memory.leaving or memory.stalled >= self.persona.patience
        if out_of_patience:
            return Intent("leave", notes={"leaving": True}) if question else None
        if revision := self._due_revision(memory):
            return revision
        if question:
            return Answers(agenda, memory, self.persona).answer(question)
        return agenda.next()

    def _first_words(self, agenda: Agenda) -> Intent:
        meant = agenda.next()
        words = self.scenario.opening or ("" if meant else self.scenario.goal)
        if not words:
            assert meant is not None
            return meant
        errand = meant.errand if meant else ""
        return Intent("say", errand, words=words, notes=agenda.heard_in(words))

    def _due_revision(self, memory: Memory) -> Intent | None:
        """Return the change of mind that is due, one at a time."""
        if memory.revisions >= len(self.scenario.revisions):
            return None
        revision = self.scenario.revisions[memory.revisions]
        if len(memory.messages) + 1 < revision.turn:
            return None
        about = revision.errands[0].id if revision.errands else ""
        return Intent("say", about, words=revision.say, notes={"revision": True})

    def _opener(self, memory: Memory, meant: Intent, question: str) -> str:
        if meant.words == self.scenario.opening and not memory.messages and meant.words:
            return ""
        if not memory.messages:
            return "greeting"
        if not memory.reply.strip():
            return "no_answer"
        going_nowhere = memory.stalled >= _ANNOYED_AFTER and meant.act.endswith("again")
        return "annoyed" if going_nowhere and not question else ""


def _reason(memory: Memory) -> StopReason:
    """Say why the customer leaves; content only if the state shows that everything is done."""
    if memory.given_up or memory.wants.wrong() is not None:
        return StopReason.GAVE_UP
    refused = [each for each in memory.scenario.errands if memory.was_refused(each)]
    left = [each for each in memory.open_errands() if each not in refused]
    if left or (memory.leaving and not refused):
        return StopReason.GAVE_UP
    if refused:
        expected = memory.whole.outcome is Outcome.REFUSED
        return StopReason.REFUSED if expected else StopReason.GAVE_UP
    return StopReason.SATISFIED
