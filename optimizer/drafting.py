"""Drafting: from a parent and its rollouts to texts that may be tried, or to why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..agents.prompts import PromptBundle
from .candidate import Pool, Status
from .case import Case
from .guards import Guards
from .merge import merged
from .proposers.proposer import Assignment, Draft, Proposer, TurnedDown
from .rollout import Lesson, Rollout
from .settings import Search


@dataclass(frozen=True, slots=True)
class Drafting:
    """Writes children.

    Attributes:
        proposer: Who writes.
        guards: What a new text must hold to.
        settings: Whether front members are merged, and how long a prompt may be.
    """

    proposer: Proposer
    guards: Guards
    settings: Search

    async def draft(
        self, pool: Pool, parent: PromptBundle, agents: Sequence[str], rollouts: Sequence[Rollout]
    ) -> Draft:
        """Merge the parent with another front member where that is new, else ask the proposer.

        Raises:
            ProposalFailedError: No proposal could be made.
            CotuneError: The run cannot go on.
        """
        candidate = pool.candidates[pool.number_of(parent)]
        if self.settings.merge and (both := merged(pool, candidate)) is not None:
            return Draft(changed(parent, both), "merged with another member of the front")
        return await self.proposer.propose(self._assignment(pool, parent, agents, rollouts))

    def refusal(
        self, parent: PromptBundle, texts: Mapping[str, str], rollouts: Sequence[Rollout]
    ) -> str | None:
        """Return why the texts may not be tried, or None when they may."""
        said = [text for case in _cases(rollouts) for text in case.said()]
        guards = self.guards.also(said)
        refusals = (
            f"{agent}: {reason}"
            for agent, text in texts.items()
            if (reason := guards.refusal(parent[agent], text))
        )
        return next(refusals, None)

    def _assignment(
        self, pool: Pool, parent: PromptBundle, agents: Sequence[str], rollouts: Sequence[Rollout]
    ) -> Assignment:
        return Assignment(
            prompts=parent.only(*agents),
            lessons={agent: _lessons(rollouts, agent) for agent in parent},
            rejected=_turned_down(pool, parent),
            max_length=self.settings.max_prompt_length,
            bundle=parent,
            cases=_cases(rollouts),
        )


def changed(before: PromptBundle, after: PromptBundle) -> dict[str, str]:
    """Return the texts that differ, by agent, as they are after."""
    return {agent: after[agent].text for agent in after if after[agent] != before[agent]}


def _turned_down(pool: Pool, parent: PromptBundle) -> list[TurnedDown]:
    """Return what was tried from this parent before and turned down, oldest first."""
    number = pool.number_of(parent)
    return [
        TurnedDown(changed(parent, candidate.bundle), candidate.reason)
        for candidate in pool.candidates
        if candidate.parent == number and candidate.status in (Status.REJECTED, Status.REFUSED)
    ]


def _lessons(rollouts: Iterable[Rollout], agent: str) -> list[Lesson]:
    found = [lesson for rollout in rollouts for lesson in rollout.lessons.get(agent, ())]
    return sorted(found, key=lambda lesson: not lesson.failed)


def _cases(rollouts: Iterable[Rollout]) -> list[Case]:
    """Return the conversations that lost points, the worst first."""
    found = [rollout.case for rollout in rollouts if rollout.case is not None]
    return sorted(found, key=lambda case: case.score)
