"""What a run tells whoever watches it; the engine knows nothing about terminals or MLflow."""

from __future__ import annotations

from typing import Protocol

from ..agents.errors import Fault
from .candidate import Candidate


class Observer(Protocol):
    """Receives what happens, in order, on the event loop's thread or gepa's."""

    def step(self, name: str, rollouts: int) -> None:
        """A step begins that will use at most this many rollouts."""
        ...

    def rolled_out(self, *, replayed: bool, fault: Fault | None) -> None:
        """One rollout has ended, or was read back from the journal."""
        ...

    def considered(self, candidate: Candidate) -> None:
        """A candidate was accepted, rejected or refused."""
        ...


class Silent:
    """Watches nothing."""

    def step(self, name: str, rollouts: int) -> None:
        """Ignore it."""

    def rolled_out(self, *, replayed: bool, fault: Fault | None) -> None:
        """Ignore it."""

    def considered(self, candidate: Candidate) -> None:
        """Ignore it."""
