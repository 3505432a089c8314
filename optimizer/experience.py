"""Experience: every train rollout of a run, by the text that each agent had in it.

What was played with one candidate says something of every candidate in which an agent has the same
text: how often each fault is blamed on that text. A fault of the text happens most of the times
that its criterion applies, noise now and then, so a fault counts by how often it recurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..agents.prompts import PromptBundle
from .case import Case
from .rollout import Lesson, Rollout


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a criterion failed by the fault of some agents.

    Attributes:
        failed: Rollouts in which it did.
        applied: Rollouts in which it applied.
    """

    failed: int
    applied: int

    @property
    def mean(self) -> float:
        """The share that failed, drawn towards one half, for a few rollouts do not say much.

        The posterior mean with Jeffreys' prior, Beta(1/2, 1/2).
        """
        return (self.failed + 0.5) / (self.applied + 1)

    @property
    def variance(self) -> float:
        """About the posterior variance of the share."""
        return self.mean * (1 - self.mean) / (self.applied + 1)


@dataclass(slots=True)
class Experience:
    """What was played on train so far."""

    _played: dict[tuple[str, str], tuple[PromptBundle, Rollout]] = field(default_factory=dict)

    @classmethod
    def of(cls, *played: tuple[PromptBundle, Sequence[Rollout]]) -> Experience:
        """Return the experience of these rollouts alone."""
        found = cls()
        for bundle, rollouts in played:
            found.add(bundle, rollouts)
        return found

    def add(self, bundle: PromptBundle, rollouts: Sequence[Rollout]) -> None:
        """Note rollouts of a candidate; those that were lost to a fault say nothing."""
        for rollout in rollouts:
            if rollout.score is not None:
                self._played[bundle.fingerprint, rollout.example] = bundle, rollout

    def rates(self, bundle: PromptBundle, agents: Collection[str]) -> dict[str, Rate]:
        """Return how often each criterion failed by the fault of some agents, with their texts.

        Args:
            bundle: With the texts.
            agents: Who may be to blame; a failure by the fault of any of them counts once.
        """
        applied: Counter[str] = Counter()
        failed: Counter[str] = Counter()
        for rollout in self._with_texts(bundle, agents):
            applied.update(rollout.applied)
            failed.update({each.criterion for agent in agents for each in _lessons(rollout, agent)})
        return {name: Rate(failed[name], count) for name, count in sorted(applied.items())}

    def lessons(self, bundle: PromptBundle, agent: str, criteria: Collection[str]) -> list[Lesson]:
        """Return what went wrong in some criteria by the fault of an agent's text."""
        return [
            lesson
            for rollout in self._with_texts(bundle, [agent])
            for lesson in _lessons(rollout, agent)
            if lesson.criterion in criteria
        ]

    def cases(self, bundle: PromptBundle, faults: Mapping[str, Collection[str]]) -> list[Case]:
        """Return the conversations in which some criteria failed, with these findings only.

        Args:
            bundle: With the texts.
            faults: The criteria, and the agents whose texts must have been the same.
        """
        found = []
        for played, rollout in self._played.values():
            if rollout.case is None:
                continue
            same = [name for name, agents in faults.items() if _alike(played, bundle, agents)]
            findings = tuple(each for each in rollout.case.findings if each.criterion in same)
            if findings:
                found.append(replace(rollout.case, findings=findings))
        return found

    def applied(self) -> dict[str, frozenset[str]]:
        """Return which criteria applied to each example that was played."""
        return {rollout.example: frozenset(rollout.applied) for _, rollout in self._played.values()}

    def examples_of(self, bundle: PromptBundle) -> set[str]:
        """Return the ids of the examples that a candidate was played on."""
        return {example for played, example in self._played if played == bundle.fingerprint}

    def _with_texts(self, bundle: PromptBundle, agents: Collection[str]) -> Iterator[Rollout]:
        """Yield the rollouts in which these agents had the texts that they have in a bundle."""
        for played, rollout in self._played.values():
            if _alike(played, bundle, agents):
                yield rollout


def _alike(one: PromptBundle, other: PromptBundle, agents: Collection[str]) -> bool:
    return all(one[agent] == other[agent] for agent in agents)


def _lessons(rollout: Rollout, agent: str) -> Sequence[Lesson]:
    """Return what the agent did wrong; a lesson that names no criterion is about the whole."""
    return [each for each in rollout.lessons.get(agent, ()) if each.criterion]
