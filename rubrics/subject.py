"""What a rubric can score: one agent's call, or a whole conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..simulation.scenario import Scenario
from ..simulation.trajectory import Trajectory


class SubjectKind(StrEnum):
    """What one example of a rubric is."""

    CALL = "call"
    TRAJECTORY = "trajectory"

    @classmethod
    def of(cls, subject: Subject) -> SubjectKind:
        """Return the kind of a subject."""
        return cls.CALL if isinstance(subject, CallRecord) else cls.TRAJECTORY


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of one agent, with what is known to be right.

    Attributes:
        inputs: The fields the agent was given, JSON values.
        outputs: The fields it returned, JSON values; empty when its answer was unusable.
        gold: What the outputs should be, and whatever else a check needs to know.
    """

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    gold: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """One conversation, with the scenario it was to fulfil."""

    trajectory: Trajectory
    scenario: Scenario


Subject = CallRecord | ConversationRecord
