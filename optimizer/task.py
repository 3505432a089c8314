"""Tasks: what is optimized. The engine knows nothing else about an assistant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from ..agents.prompts import PromptBundle
from .example import Example, Splits
from .rollout import Rollout

ExampleT = TypeVar("ExampleT", bound=Example)


class Task(Protocol[ExampleT]):
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
    def splits(self) -> Splits[ExampleT]:
        """The examples."""
        ...

    @property
    def concurrency(self) -> int:
        """How many rollouts may be under way at once."""
        ...

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a rollout beside prompts, example and repeat; JSON."""
        ...

    def texts(self, example: ExampleT) -> Iterable[str]:
        """Yield the texts of an example that no prompt may copy."""
        ...

    async def rollout(self, example: ExampleT, candidate: PromptBundle, repeat: int) -> Rollout:
        """Play one example once.

        Faults that are not the assistant's own come back as a `Rollout` without a score.

        Raises:
            CotuneError: The run cannot go on: budget spent, model unusable.
        """
        ...
