"""The contract between a conversation and a simulated customer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .scenario import Scenario
from .trajectory import StopReason, Trajectory


@dataclass(frozen=True, slots=True)
class Say:
    """The customer says something.

    Attributes:
        message: What the assistant reads.
        notes: Why, JSON values for whoever reads the trajectory; the assistant never sees them.
    """

    message: str
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stop:
    """The customer leaves without another word."""

    reason: StopReason
    notes: Mapping[str, Any] = field(default_factory=dict)


UserMove = Say | Stop


class User(Protocol):
    """One customer in one conversation; what it remembers, it remembers of this one alone."""

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        """Say the next thing, or leave.

        Args:
            so_far: The conversation; its `stop` means nothing yet.
            objections: What was wrong with this turn's earlier attempts, oldest first; an
                attempt after an objection must not repeat the request that led to it.

        Raises:
            FaultError: Nothing could be said; the fault says whose fault it is.
        """
        ...


class UserKind(Protocol):
    """A way to simulate customers, such as by agenda or by a model."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What determines its customers' words beside scenario and seed, JSON."""
        ...

    def start(self, scenario: Scenario, seed: int) -> User:
        """Return a customer for one conversation.

        Raises:
            UsageError: The scenario cannot be played by this kind.
        """
        ...
