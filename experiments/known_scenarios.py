"""Known scenarios: what the customer of a recorded conversation wanted, where it can be known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..simulation.scenario import Scenario
from ..simulation.scenario_file import load_scenarios
from ..simulation.trajectory import Trajectory

_PACK = "grocery"


@dataclass(frozen=True, slots=True)
class KnownScenarios:
    """Scenarios by id.

    Attributes:
        source: The pack or file they come from.
        by_id: The scenarios.
        assumed: Whether nobody named the source; it then says nothing about conversations that
            were imported, whose ids only happen to be the same.
    """

    source: str
    by_id: Mapping[str, Scenario]
    assumed: bool

    @classmethod
    def load(cls, source: str | None) -> KnownScenarios:
        """Read a pack or a file; the grocery pack when None.

        Raises:
            UsageError: There is no such file, or something in it is wrong.
        """
        scenarios = load_scenarios(source or _PACK)
        return cls(source or _PACK, {each.id: each for each in scenarios}, source is None)

    def find(self, trajectory: Trajectory) -> Scenario | None:
        """Return the scenario of a conversation, if it is known."""
        if self.assumed and "source" in trajectory.metadata:
            return None
        return self.by_id.get(trajectory.scenario)

    def of(self, trajectory: Trajectory) -> Scenario:
        """Return the scenario of a conversation, or a bare one, of which only the goal is known.

        A bare scenario expects nothing of the world's state, so what needs one does not apply.
        """
        known = self.find(trajectory)
        if known is not None:
            return known
        id_ = trajectory.scenario or "unknown"
        family, goal = (trajectory.metadata.get(name) for name in ("family", "goal"))
        return Scenario(id=id_, family=str(family or id_), goal=str(goal or "unknown"))
