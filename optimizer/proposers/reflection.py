"""The reflection proposer: a language model rewrites a prompt from failing calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from ...agents.ledger import Ledger
from ...agents.lm import LanguageModel
from ...agents.prompts import Prompt, read_prompt
from ...simulation.journal import Journal
from .data import as_data
from .lesson_text import lesson_text
from .proposer import Assignment, Draft, TurnedDown
from .reflection_model import ReflectionModel

_MAX_FAILURES, _MAX_SUCCESSES, _MAX_REJECTED = 8, 2, 3
_INSTRUCTIONS = Path(__file__).with_name("reflection.md")
OF_JUDGES = Path(__file__).with_name("judge_reflection.md")


class Proposal(dspy.Signature):
    """Instructed by `reflection.md`."""

    agent: str = dspy.InputField()
    purpose: str = dspy.InputField()
    present_prompt: str = dspy.InputField()
    calls: str = dspy.InputField()
    turned_down: str = dspy.InputField()
    length_limit: int = dspy.InputField()
    diagnosis: str = dspy.OutputField()
    prompt: str = dspy.OutputField()


@dataclass(frozen=True, slots=True)
class ReflectionProposer:
    """One model call per agent to change; each answer is journaled before it is used.

    Attributes:
        lm: The reflection model.
        journal: Where its answers are kept.
        ledger: Where replayed answers are counted.
        random_seed: From which each call's sampling seed is derived.
        instructions: What the model is told.
    """

    lm: LanguageModel
    journal: Journal
    ledger: Ledger
    random_seed: int = 0
    instructions: Path = _INSTRUCTIONS

    name = "reflection"
    quotes_train = False

    async def propose(self, assignment: Assignment) -> Draft:
        """Return the rewritten prompts; see `Proposer.propose`."""
        model = ReflectionModel(self.lm, self.journal, self.ledger, self.random_seed)
        instructions = read_prompt(self.instructions)
        answers = {
            agent: await model.ask(Proposal, instructions, _inputs(prompt, assignment))
            for agent, prompt in assignment.prompts.items()
            if any(lesson.failed for lesson in assignment.lessons.get(agent, ()))
        }
        texts = {agent: answer["prompt"].strip() for agent, answer in answers.items()}
        said = (f"{agent}: {answer['diagnosis'].strip()}" for agent, answer in answers.items())
        return Draft(texts, "\n".join(said))


def _inputs(prompt: Prompt, assignment: Assignment) -> dict[str, Any]:
    lessons = assignment.lessons[prompt.agent]
    failed = [lesson for lesson in lessons if lesson.failed][:_MAX_FAILURES]
    passed = [lesson for lesson in lessons if not lesson.failed][:_MAX_SUCCESSES]
    tried = [one for one in assignment.rejected if prompt.agent in one.texts]
    return {
        "agent": prompt.agent,
        "purpose": prompt.description,
        "present_prompt": as_data(prompt.text),
        "calls": as_data("\n\n".join(lesson_text(lesson) for lesson in [*failed, *passed])),
        "turned_down": as_data(_describe_rejected(prompt.agent, tried[-_MAX_REJECTED:])),
        "length_limit": assignment.max_length,
    }


def _describe_rejected(agent: str, rejected: Sequence[TurnedDown]) -> str:
    return "\n\n".join(f"{one.reason}:\n{one.texts[agent]}" for one in rejected) or "none"
