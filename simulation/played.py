"""What comes of a unit of work: a trajectory, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..agents.errors import Fault, FaultOrigin
from ..agents.ledger import Role, Spending, Usage
from .trajectory import Trajectory
from .trajectory_json import (
    fault_from_json,
    fault_to_json,
    trajectory_from_json,
    trajectory_to_json,
)


@dataclass(frozen=True, slots=True)
class Played:
    """One conversation that was played.

    Attributes:
        trajectory: The conversation.
        spending: What it used, earlier attempts included, by model role and agent.
        earlier: The faults for which it was played again.
    """

    trajectory: Trajectory
    spending: Spending
    earlier: tuple[Fault, ...] = ()

    @property
    def excluded_for(self) -> Fault | None:
        """The fault that keeps it from being scored; the assistant's own failures do not."""
        fault = self.trajectory.fault
        return None if fault is None or fault.origin is FaultOrigin.ASSISTANT else fault

    def after(self, other: Played) -> Played:
        """Return this attempt as the one that followed `other`."""
        fault = other.trajectory.fault
        earlier = (*other.earlier, *((fault,) if fault else ()))
        return Played(self.trajectory, added(other.spending, self.spending), earlier)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values for the journal."""
        return {
            "trajectory": trajectory_to_json(self.trajectory),
            "spending": spending_to_json(self.spending),
            "earlier": [fault_to_json(fault) for fault in self.earlier],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Played:
        """Read back what `to_json` returned."""
        return cls(
            trajectory_from_json(value["trajectory"]),
            spending_from_json(value["spending"]),
            tuple(fault_from_json(fault) for fault in value["earlier"]),
        )


def added(one: Spending, other: Spending) -> Spending:
    """Return both together."""
    accounts = one.keys() | other.keys()
    return {
        account: one.get(account, Usage()) + other.get(account, Usage())
        for account in sorted(accounts)
    }


def spending_to_json(spending: Spending) -> list[dict[str, Any]]:
    """Return JSON values."""
    return [
        {"role": str(role), "agent": agent, "usage": usage.to_json()}
        for (role, agent), usage in sorted(spending.items())
    ]


def spending_from_json(value: list[dict[str, Any]]) -> Spending:
    """Read back what `spending_to_json` returned."""
    return {(Role(part["role"]), part["agent"]): Usage(**part["usage"]) for part in value}
