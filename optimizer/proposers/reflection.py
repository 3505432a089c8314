"""The reflection proposer: a language model rewrites a prompt from failing calls."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from ...agents.agent import Agent
from ...agents.errors import FaultError, FaultOrigin
from ...agents.fingerprint import fingerprint
from ...agents.ledger import Ledger, Role, Usage, charged_to
from ...agents.lm import LanguageModel
from ...agents.prompts import Prompt, read_prompt
from ...simulation.journal import Journal
from ...simulation.paused import PausedError
from ..rollout import Lesson
from .proposer import Assignment, ProposalFailedError, TurnedDown

_MAX_FAILURES, _MAX_SUCCESSES, _MAX_REJECTED = 8, 2, 3
_INSTRUCTIONS = Path(__file__).with_name("reflection.md")
_BEGIN, _END = "BEGIN DATA", "END DATA"
_MARKER = re.compile(r"(BEGIN|END)\s+(DATA)", re.IGNORECASE)


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
    """

    lm: LanguageModel
    journal: Journal
    ledger: Ledger
    random_seed: int = 0

    name = "reflection"
    quotes_train = False

    async def propose(self, assignment: Assignment) -> Mapping[str, str]:
        """Return the rewritten prompts; see `Proposer.propose`."""
        return {
            agent: await self._rewrite(prompt, assignment)
            for agent, prompt in assignment.prompts.items()
            if any(lesson.failed for lesson in assignment.lessons.get(agent, ()))
        }

    async def _rewrite(self, prompt: Prompt, assignment: Assignment) -> str:
        inputs = _inputs(prompt, assignment)
        instructions = read_prompt(_INSTRUCTIONS)
        content = [self.lm.identity(), instructions.text, inputs, self.random_seed]
        key = Journal.key("proposal", content)
        record = self.journal.get(key)
        if record is None:
            record = await self._ask(key, instructions, inputs)
            self.journal.put(key, record)
        else:
            usage = Usage(**record["usage"])
            self.ledger.replay(Role.REFLECTION, "reflection", usage)
            if self.lm.budget is not None:
                self.lm.budget.add(usage)
        if "unusable" in record:
            raise ProposalFailedError(record["unusable"])
        return record["prompt"].strip()

    async def _ask(self, key: str, instructions: Prompt, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the answer; one that is no use, too, is paid for and belongs in the journal."""
        seed = int(fingerprint([self.random_seed, key], 7), 16)
        try:
            with charged_to(key=key):
                answer = await Agent("reflection", Proposal).call(
                    instructions, self.lm, inputs, seed
                )
        except FaultError as error:
            if error.fault.origin is not FaultOrigin.ASSISTANT:
                raise PausedError(
                    f"The run paused: the reflection model gave no answer ({error.fault.message}). "
                    "Nothing is lost. Mend the cause and run the same command again; it goes on "
                    "from here."
                ) from error
            answer = {"unusable": f"the model gave no usable answer: {error.fault.message}"}
        return {**answer, "usage": self.ledger.collect(key).to_json()}


def _inputs(prompt: Prompt, assignment: Assignment) -> dict[str, Any]:
    lessons = assignment.lessons[prompt.agent]
    failed = [lesson for lesson in lessons if lesson.failed][:_MAX_FAILURES]
    passed = [lesson for lesson in lessons if not lesson.failed][:_MAX_SUCCESSES]
    tried = [one for one in assignment.rejected if prompt.agent in one.texts]
    return {
        "agent": prompt.agent,
        "purpose": prompt.description,
        "present_prompt": _as_data(prompt.text),
        "calls": _as_data("\n\n".join(_describe(lesson) for lesson in [*failed, *passed])),
        "turned_down": _as_data(_describe_rejected(prompt.agent, tried[-_MAX_REJECTED:])),
        "length_limit": assignment.max_length,
    }


def _describe(lesson: Lesson) -> str:
    lines = [f"Received: {lesson.inputs}", f"Returned: {lesson.output}"]
    if lesson.failed:
        lines.append(f"Wrong: {lesson.feedback}")
        if lesson.rule:
            lines.append(f"Rule: {lesson.rule}")
    else:
        lines.append("Right.")
    return "\n".join(lines)


def _describe_rejected(agent: str, rejected: Sequence[TurnedDown]) -> str:
    return "\n\n".join(f"{one.reason}:\n{one.texts[agent]}" for one in rejected) or "none"


def _as_data(text: str) -> str:
    """Delimit untrusted text; a delimiter inside it is broken up so that it cannot end it."""
    harmless = _MARKER.sub(r"\1_\2", text)
    return f"{_BEGIN}\n{harmless}\n{_END}"
