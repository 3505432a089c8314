"""Tasks: what is optimized. The engine knows nothing else about an assistant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..agents.prompts import PromptBundle
from .example import Example, Splits
from .rollout import Rollout


class Task(Protocol):
    """Something whose prompts can be scored on examples."""

    @property
    def name(self) -> str:
        """A short name for people and folders."""
        ...

    @property
    def seed(self) -> PromptBundle:
        """The prompts to start from; their agents are what may change."""
        ...

    @property
    def splits(self) -> Splits:
        """The examples."""
        ...

    @property
    def concurrency(self) -> int:
        """How many rollouts may be under way at once."""
        ...

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a rollout beside prompts, example and repeat; JSON."""
        ...

    async def rollout(self, example: Example, candidate: PromptBundle, repeat: int) -> Rollout:
        """Play one example once.

        Faults that are not the assistant's own come back as a `Rollout` without a score.

        Raises:
            CotuneError: The run cannot go on: budget spent, model unusable.
        """
        ...
