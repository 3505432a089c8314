"""The contract of a proposer: from prompts and what went wrong with them to better prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...agents.prompts import Prompt, PromptBundle
from ..case import Case
from ..rollout import Lesson


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """A proposal that was tried and turned down.

    Attributes:
        texts: The texts that it changed, by agent.
        reason: Why it was turned down, in a sentence with numbers.
    """

    texts: Mapping[str, str]
    reason: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a proposer works from.

    Attributes:
        prompts: The prompts to rewrite, by agent.
        lessons: What each agent can learn from the minibatch, failures first; of agents that
            are not to change, too.
        rejected: What was tried from these prompts before and turned down, newest last.
        max_length: Longest allowed prompt, in characters.
        bundle: The prompts of all agents, those that are not to change among them.
        cases: The conversations that lost points, the worst first; none where an example is a
            single call.
    """

    prompts: Mapping[str, Prompt]
    lessons: Mapping[str, Sequence[Lesson]]
    rejected: Sequence[TurnedDown]
    max_length: int
    bundle: PromptBundle
    cases: Sequence[Case] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a proposer wrote.

    Attributes:
        texts: New texts, by agent; empty when there is nothing to do.
        diagnosis: What was wrong and how the texts mend it, for people; empty when not said.
    """

    texts: Mapping[str, str]
    diagnosis: str = ""


class ProposalFailedError(Exception):
    """No proposal could be made this time; the message says why."""


class Proposer(Protocol):
    """Writes prompts."""

    @property
    def name(self) -> str:
        """What it is called in settings and reports."""
        ...

    @property
    def quotes_train(self) -> bool:
        """Whether its prompts may hold training examples, as worked examples do."""
        ...

    async def propose(self, assignment: Assignment) -> Draft:
        """Write new texts for some of the agents.

        Raises:
            ProposalFailedError: No proposal could be made.
            CotuneError: The run cannot go on.
        """
        ...
