"""Customers played by a language model that is told what the customer knows, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import dspy

from ...agents.agent import Agent
from ...agents.fingerprint import fingerprint
from ...agents.lm import LanguageModel
from ...agents.prompts import Prompt, read_prompt
from ..acts import pending_question
from ..open_errands import revisions_noted
from ..persona import Persona, load_personas, persona_called
from ..scenario import Revision, Scenario
from ..trajectory import StopReason, Trajectory
from ..user import Say, Stop, User, UserMove
from .customer_sheet import customer_sheet

_INSTRUCTIONS = Path(__file__).with_suffix(".md")


class CustomerTurn(dspy.Signature):
    """Instructed by `llm.md`."""

    persona: str = dspy.InputField()
    goal: str = dspy.InputField()
    wants: str = dspy.InputField()
    knows: str = dspy.InputField()
    does_not_know: str = dspy.InputField()
    news: str = dspy.InputField()
    screen: str = dspy.InputField()
    cart: str = dspy.InputField()
    not_done: str = dspy.InputField()
    conversation: str = dspy.InputField()
    problems: str = dspy.InputField()
    message: str = dspy.OutputField()
    status: Literal["continue", "satisfied", "gave_up", "refused", "out_of_scope"] = (
        dspy.OutputField()
    )
    reason: str = dspy.OutputField()


CUSTOMER = Agent("customer", CustomerTurn)


@dataclass(frozen=True, slots=True)
class LlmUsers:
    """Customers whose every turn is one call of a model.

    Attributes:
        lm: The model, in the role `USER`.
        personas: The personas by name.
        prompt: What the model is told; `llm.md` by default.
        minimum_turns: Messages before the customer may leave, at least 1.
    """

    lm: LanguageModel
    personas: Mapping[str, Persona] = field(default_factory=load_personas)
    prompt: Prompt = field(default_factory=lambda: read_prompt(_INSTRUCTIONS))
    minimum_turns: int = 1

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, what it is told and asked for, and the personas."""
        personas = {name: each.model_dump(mode="json") for name, each in self.personas.items()}
        return {
            "user": "llm",
            "model": self.lm.identity(),
            "prompt": self.prompt.fingerprint,
            "interface": CUSTOMER.interface,
            "personas": fingerprint(personas),
            "minimum_turns": self.minimum_turns,
        }

    def start(self, scenario: Scenario, seed: int) -> User:
        """Return a customer for one conversation.

        Raises:
            UsageError: There is no such persona.
        """
        return _LlmUser(self, scenario, persona_called(scenario.persona, self.personas), seed)


@dataclass(frozen=True, slots=True)
class _LlmUser:
    """One customer; all it remembers is in the conversation and its notes."""

    kind: LlmUsers
    scenario: Scenario
    persona: Persona
    seed: int

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        news = self._news(so_far)
        if self.scenario.opening and not (so_far.turns or objections):
            return Say(self.scenario.opening, {"reason": "the scenario's opening"})
        leaving = _leaving(so_far)
        if leaving and not (objections or news or pending_question(so_far)):
            return Stop(leaving, {"reason": "said goodbye"})
        answer = await self._ask(so_far, news, objections)
        notes = {"status": answer["status"], "reason": answer["reason"]}
        if news:
            notes["revision"] = news.say
        message, status = answer["message"].strip(), answer["status"]
        if message and pending_question(so_far):
            # Who was asked something answers it, and leaves when that has been heard.
            return Say(message, notes)
        return self._move(message, status, len(so_far.turns), notes)

    def _move(self, message: str, status: str, said: int, notes: dict[str, str]) -> UserMove:
        """Return the move: who leaves with a word says it first, and is gone a turn later."""
        if status == "continue":
            return Say(message, notes)
        if not message and said >= self.kind.minimum_turns:
            return Stop(StopReason(status), notes)
        if said + 1 >= self.kind.minimum_turns:
            notes["leaving"] = status
        return Say(message, notes)

    def _news(self, so_far: Trajectory) -> Revision | None:
        """Return the change of mind that is due.

        A customer who is about to leave contented changes their mind now rather than never.
        """
        noted = revisions_noted(so_far)
        if noted >= len(self.scenario.revisions):
            return None
        revision = self.scenario.revisions[noted]
        is_due = revision.turn <= len(so_far.turns) + 1
        return revision if is_due or _leaving(so_far) is StopReason.SATISFIED else None

    async def _ask(
        self, so_far: Trajectory, news: Revision | None, objections: Sequence[str]
    ) -> dict[str, Any]:
        changes = self.scenario.revisions[: revisions_noted(so_far) + bool(news)]
        now = self.scenario.revised(changes)
        sheet = customer_sheet(now, self.persona, news, so_far, objections)
        turn = [self.seed, self.scenario.seed, self.scenario.id, len(so_far.turns)]
        seed = int(fingerprint([*turn, len(objections)], 7), 16)
        return await CUSTOMER.call(self.kind.prompt, self.kind.lm, sheet, seed)


def _leaving(so_far: Trajectory) -> StopReason | None:
    """Return why the customer said goodbye in their last message; None when they did not."""
    said = so_far.turns[-1].notes.get("leaving") if so_far.turns else None
    return StopReason(said) if said else None
