"""The joint proposer: one call of a language model rewrites several prompts that fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dspy
from pydantic import BaseModel, ConfigDict

from ...agents.ledger import Ledger
from ...agents.lm import LanguageModel
from ...agents.prompts import read_prompt
from ...simulation.journal import Journal
from .hand_offs import readers
from .joint_inputs import joint_inputs
from .proposer import Assignment, Draft, ProposalFailedError
from .reflection_model import ReflectionModel

_INSTRUCTIONS = Path(__file__).with_name("joint.md")


class Edit(BaseModel):
    """The new prompt of one agent."""

    model_config = ConfigDict(extra="forbid")

    agent: str
    prompt: str


class JointProposal(dspy.Signature):
    """Instructed by `joint.md`."""

    agents_to_change: str = dspy.InputField()
    other_agents: str = dspy.InputField()
    hand_offs: str = dspy.InputField()
    conversations: str = dspy.InputField()
    rules: str = dspy.InputField()
    turned_down: str = dspy.InputField()
    length_limit: int = dspy.InputField()
    diagnosis: str = dspy.OutputField()
    edits: list[Edit] = dspy.OutputField()


@dataclass(frozen=True, slots=True)
class JointProposer:
    """One model call for all agents to change; its answer is journaled before it is used.

    Attributes:
        lm: The reflection model.
        journal: Where its answers are kept.
        ledger: Where replayed answers are counted.
        random_seed: From which each call's sampling seed is derived.
        max_tokens: Estimated tokens that it is sent at most; conversations are shortened to fit.
    """

    lm: LanguageModel
    journal: Journal
    ledger: Ledger
    random_seed: int = 0
    max_tokens: int = 12_000

    name = "joint"
    quotes_train = False

    async def propose(self, assignment: Assignment) -> Draft:
        """Return edits that fit together; see `Proposer.propose`."""
        if not _has_failures(assignment):
            return Draft({})
        assignment = _across_hand_offs(assignment)
        instructions = read_prompt(_INSTRUCTIONS)
        inputs = joint_inputs(assignment, instructions.text, self.max_tokens)
        model = ReflectionModel(self.lm, self.journal, self.ledger, self.random_seed)
        answer = await model.ask(JointProposal, instructions, inputs)
        return Draft(_texts(answer["edits"], assignment), answer["diagnosis"].strip())


def _across_hand_offs(assignment: Assignment) -> Assignment:
    """Let those change, too, who read what a drawn agent wrote: one side alone may do nothing."""
    drawn = assignment.prompts
    near = (
        each for case in assignment.cases for agent in drawn for each in readers(case, agent, None)
    )
    agents = dict.fromkeys([*drawn, *(agent for agent in near if agent in assignment.bundle)])
    return replace(assignment, prompts=assignment.bundle.only(*agents))


def _has_failures(assignment: Assignment) -> bool:
    lessons = (lesson for found in assignment.lessons.values() for lesson in found)
    return bool(assignment.cases) or any(lesson.failed for lesson in lessons)


def _texts(edits: Sequence[Mapping[str, Any]], assignment: Assignment) -> dict[str, str]:
    """Return the edits by agent; none when the model finds nothing to mend, and says so.

    Raises:
        ProposalFailedError: An edit is of an agent that may not change, or none changes anything.
    """
    texts: dict[str, str] = {}
    for edit in edits:
        agent, text = edit["agent"], edit["prompt"].strip()
        if agent not in assignment.prompts:
            allowed = ", ".join(assignment.prompts)
            known = "may not change" if agent in assignment.bundle else "does not exist"
            raise ProposalFailedError(
                f"the model rewrote the agent '{agent[:60]}', which {known}; to change: {allowed}"
            )
        if agent in texts:
            raise ProposalFailedError(f"the model rewrote the agent '{agent}' twice")
        texts[agent] = text
    new = {
        agent: text
        for agent, text in texts.items()
        if text != assignment.prompts[agent].text.strip()
    }
    if edits and not new:
        raise ProposalFailedError("the model rewrote prompts just as they were")
    return new
