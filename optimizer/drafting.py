"""Drafting: from a parent and its rollouts to texts that may be tried, or to why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..agents.prompts import PromptBundle
from .candidate import Pool, Status
from .case import Case
from .guards import Guards, Unfit
from .learning import Material
from .proposers.proposer import Assignment, Draft, Proposer, TurnedDown


@dataclass(frozen=True, slots=True)
class Drafting:
    """Writes children.

    Attributes:
        proposer: Who writes.
        guards: What a new text must hold to.
        unfit: What the assistant itself cannot be told.
        max_length: Longest allowed prompt, in characters.
    """

    proposer: Proposer
    guards: Guards
    unfit: Unfit
    max_length: int

    async def draft(self, pool: Pool, parent: PromptBundle, material: Material) -> Draft:
        """Ask the proposer; without anything to learn from there is nothing to write.

        Raises:
            ProposalFailedError: No proposal could be made.
            CotuneError: The run cannot go on.
        """
        assignment = Assignment(
            prompts=parent.only(*material.agents),
            lessons=material.lessons,
            rejected=_turned_down(pool, parent),
            max_length=self.max_length,
            bundle=parent,
            cases=material.cases,
        )
        return await self.proposer.propose(assignment)

    def refusal(
        self, parent: PromptBundle, texts: Mapping[str, str], cases: Iterable[Case]
    ) -> str | None:
        """Return why the texts may not be tried, or None when they may."""
        said = [text for case in cases for text in case.said()]
        guards = self.guards.also(said)
        refusals = (
            f"{agent}: {reason}"
            for agent, text in texts.items()
            if (reason := guards.refusal(parent[agent], text))
        )
        return next(refusals, None) or self.unfit(parent.with_texts(texts).only(*texts))


def changed(before: PromptBundle, after: PromptBundle) -> dict[str, str]:
    """Return the texts that differ, by agent, as they are after."""
    return {agent: after[agent].text for agent in after if after[agent] != before[agent]}


def _turned_down(pool: Pool, parent: PromptBundle) -> list[TurnedDown]:
    """Return what was tried from this parent and those before it and turned down, oldest first."""
    line = {candidate.number: candidate for candidate in pool.line(parent)}
    return [
        TurnedDown(changed(line[candidate.parent].bundle, candidate.bundle), candidate.reason)
        for candidate in pool.candidates
        if candidate.parent in line and candidate.status in (Status.REJECTED, Status.REFUSED)
    ]
