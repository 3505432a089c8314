"""Checks of your own, which rubric.yaml names: what is said and done decides, without a model.

A check takes the conversation and its scenario and returns a finding: a score from 0 to 1, or that
it has nothing to say.
"""

from __future__ import annotations

from cotune.rubrics.verdict import Finding
from cotune.simulation.scenario import ItemErrand, Scenario
from cotune.simulation.trajectory import Trajectory


def shows_what_was_asked(trajectory: Trajectory, scenario: Scenario) -> Finding:
    """Each item that the customer wants is named in a reply, and a tool has found it."""
    wanted = [each.item for each in scenario.final.errands if isinstance(each, ItemErrand)]
    if not wanted:
        return Finding.not_applicable("The customer asked for no product.")
    found = " ".join(str(call.result) for _, call in trajectory.tool_calls()).lower()
    said = " ".join(turn.reply.text for turn in trajectory.turns).lower()
    missing = [item for item in wanted if item.lower() not in said]
    made_up = [item for item in wanted if item not in missing and item.lower() not in found]
    if missing:
        return Finding.scored(0, f"No reply names {' or '.join(missing)}.")
    if made_up:
        return Finding.scored(0, f"No tool has found {' or '.join(made_up)}.")
    return Finding.scored(1, f"It was found and shown: {', '.join(wanted)}.")


def is_short(trajectory: Trajectory, scenario: Scenario, turn: int, *, words: int) -> Finding:
    """No reply has more than so many words; called once for each turn."""
    count = len(trajectory.turns[turn].reply.text.split())
    return Finding.scored(float(count <= words), f"The reply has {count} words.")
