"""The contract of a proposer: from a prompt and its lessons to a better prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...agents.prompts import Prompt
from ..rollout import Lesson


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a proposer works from.

    Attributes:
        prompts: The prompts to rewrite, by agent.
        lessons: What each of those agents can learn from the minibatch, failures first.
        rejected: Texts that were tried from these prompts before and why they were turned
            down, by agent, newest last.
        max_length: Longest allowed prompt, in characters.
    """

    prompts: Mapping[str, Prompt]
    lessons: Mapping[str, Sequence[Lesson]]
    rejected: Mapping[str, Sequence[tuple[str, str]]]
    max_length: int


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

    async def propose(self, assignment: Assignment) -> Mapping[str, str]:
        """Return new texts for some of the agents; an empty mapping when there is nothing to do.

        Raises:
            ProposalFailedError: No proposal could be made.
            CotuneError: The run cannot go on.
        """
        ...
