"""Component selection: which agents' prompts a proposal may change."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from .rollout import Rollout
from .settings import Search


class ComponentSelection(Protocol):
    """Chooses agents."""

    def __call__(self, rollouts: Sequence[Rollout], agents: Sequence[str], draw: int) -> list[str]:
        """Return at least one of the agents."""
        ...


def component_selection(settings: Search, seed: int) -> ComponentSelection:
    """Return the selection that the settings name."""

    def by_blame(rollouts: Sequence[Rollout], agents: Sequence[str], draw: int) -> list[str]:
        chance = random.Random(f"{seed} {draw}")
        blame = {agent: sum(one.blame.get(agent, 0.0) for one in rollouts) for agent in agents}
        if not any(blame.values()) or chance.random() < settings.exploration:
            return chance.sample(list(agents), min(settings.agents_at_once, len(agents)))
        ranked = sorted(
            (agent for agent in agents if blame[agent] > 0),
            key=lambda agent: chance.random() ** (1 / blame[agent]),
        )
        return ranked[-settings.agents_at_once :]

    return by_blame
