"""Checks of an airline's own, as its people would write them beside their rubric."""

from __future__ import annotations

from cotune.rubrics.verdict import Finding
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import Trajectory


def recorded_reward(trajectory: Trajectory, scenario: Scenario, *, least: float = 1.0) -> Finding:
    """The outcome is what the benchmark recorded."""
    reward = trajectory.metadata.get("reward")
    if not isinstance(reward, (int, float)):
        return Finding.not_applicable("No reward was recorded.")
    said = f"The recorded reward is {reward:g}, at least {least:g} is a success."
    return Finding.scored(reward >= least, said, (f"reward: {reward:g}",))


def tools_worked(trajectory: Trajectory, scenario: Scenario, turn: int) -> Finding:
    """A tool that refuses was called with the wrong arguments."""
    calls = [call for index, call in trajectory.tool_calls() if index == turn]
    if not calls:
        return Finding.not_applicable("No tool was called.")
    errors = tuple(f"{call.tool}: {call.error}" for call in calls if call.error)
    return Finding.scored(not errors, f"{len(errors)} of {len(calls)} calls were refused.", errors)
