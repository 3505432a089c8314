"""Quality checks on every customer turn: pure functions that say what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from .scenario import Scenario
from .trajectory import Trajectory
from .user import UserMove


@dataclass(frozen=True, slots=True)
class TurnProblem:
    """Why a customer's turn cannot be used.

    Attributes:
        kind: A short stable code, such as `role_flip`.
        said: What is wrong, as an objection to whoever wrote the turn.
    """

    kind: str
    said: str


def problem_with(move: UserMove, so_far: Trajectory, scenario: Scenario) -> TurnProblem | None:
    """Return the first thing that is wrong with a turn, or None."""
    return None
