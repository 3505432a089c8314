"""Component selection: whose prompts a proposal may change."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..agents.fingerprint import fingerprint
from .rollout import Rollout
from .settings import Search


class ComponentSelection(Protocol):
    """Chooses agents."""

    def __call__(self, rollouts: Sequence[Rollout], agents: Sequence[str], draw: int) -> list[str]:
        """Return the agents to change, at least one.

        Args:
            rollouts: Of the parent on the minibatch.
            agents: All agents.
            draw: Number of this choice; the same number and rollouts give the same choice.
        """
        ...


@dataclass(frozen=True, slots=True)
class ByBlame:
    """Draws agents by the points lost through their fault, so that a change goes where that is.

    Agents without blame are drawn by exploration only. When nobody is blamed, all are alike.

    Attributes:
        at_once: Agents drawn at most.
        exploration: Share of draws that ignore the blame, 0 to 1.
        seed: From which the draws come.
    """

    at_once: int
    exploration: float
    seed: int

    def __call__(self, rollouts: Sequence[Rollout], agents: Sequence[str], draw: int) -> list[str]:
        """Return the agents to change; see `ComponentSelection`."""
        chance = random.Random(fingerprint(["agents", self.seed, draw]))
        blame = _blame(rollouts)
        left = list(agents)
        chosen: list[str] = []
        while left and len(chosen) < self.at_once:
            agent = self._drawn(left, blame, chance)
            if agent is None:
                break
            left.remove(agent)
            chosen.append(agent)
        return chosen or [chance.choice(list(agents))]

    def _drawn(
        self, agents: Sequence[str], blame: Mapping[str, float], chance: random.Random
    ) -> str | None:
        """Draw one agent; None when nobody is left to blame and nothing is to be explored."""
        if chance.random() < self.exploration:
            return chance.choice(agents)
        weights = [blame.get(agent, 0.0) for agent in agents]
        return chance.choices(agents, weights)[0] if any(weights) else None


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """One agent after the other, whoever is to blame."""

    def __call__(self, rollouts: Sequence[Rollout], agents: Sequence[str], draw: int) -> list[str]:
        """Return the agents to change; see `ComponentSelection`."""
        return [agents[draw % len(agents)]]


@dataclass(frozen=True, slots=True)
class AllAgents:
    """All agents at once."""

    def __call__(self, rollouts: Sequence[Rollout], agents: Sequence[str], draw: int) -> list[str]:
        """Return the agents to change; see `ComponentSelection`."""
        return list(agents)


def component_selection(settings: Search, seed: int) -> ComponentSelection:
    """Return the selection that the settings ask for."""
    match settings.agents:
        case "blame":
            return ByBlame(settings.agents_at_once, settings.exploration, seed)
        case "round_robin":
            return RoundRobin()
        case "all":
            return AllAgents()


def _blame(rollouts: Sequence[Rollout]) -> Mapping[str, float]:
    points: defaultdict[str, float] = defaultdict(float)
    for rollout in rollouts:
        for agent, lost in rollout.blame.items():
            points[agent] += lost
    return points
