"""Conversations of which the world's state shows whether they were successful.

All have two turns, so that counting them tells nothing. A customer of the simulated grocery
assistant either has two wishes, which are met at once; or one wish, and a fault was planted in one
of the assistant's agents (`planted_faults.py`): in the second turn the customer tries to put things
right, and the cart at the end shows whether that helped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...rubrics.evaluate import evaluate
from ...rubrics.rubric import Rubric
from ...rubrics.rubric_file import load_rubric
from ...rubrics.subject import ConversationRecord
from ...simulation.scenario import Scenario
from ...simulation.scenario_file import load_scenarios
from .credit import flawless, play
from .planted_faults import FAULTS, PlantedFault

_TURNS = 2
_EVERY = 4
"""One family of scenarios in so many is for finding wordings; the others are held out."""


@dataclass(frozen=True, slots=True)
class Conversations:
    """Conversations, the good ones and the others in turn.

    Attributes:
        for_wordings: Those that may be looked at while the text of a criterion is written.
        held_out: Those of other families of scenarios.
    """

    for_wordings: tuple[ConversationRecord, ...]
    held_out: tuple[ConversationRecord, ...]


async def conversations(rubric: Rubric) -> Conversations:
    """Hold conversations, half of which end well.

    Args:
        rubric: By whose checks a conversation ends well when it passes all of them.
    """
    everything = await flawless(load_scenarios("grocery"), load_rubric("magic"))
    families = sorted({record.scenario.family for record in everything.values()})
    seen = set(families[::_EVERY])
    parts = [
        [each for each in everything.values() if (each.scenario.family in seen) is wanted]
        for wanted in (True, False)
    ]
    return Conversations(*[await _of_two_turns(part, rubric) for part in parts])


async def _of_two_turns(
    records: Sequence[ConversationRecord], rubric: Rubric
) -> tuple[ConversationRecord, ...]:
    """Return the conversations that took two turns, and those of one turn with a fault in them."""
    flawless_ones = [each for each in records if len(each.trajectory.turns) == _TURNS]
    short = [each for each in records if len(each.trajectory.turns) < _TURNS]
    corrected: list[ConversationRecord] = []
    spoilt: list[ConversationRecord] = []
    for number, record in enumerate(short):
        faults = [FAULTS[(number + shift) % len(FAULTS)] for shift in range(len(FAULTS))]
        corrected += await _first(record.scenario, faults, rubric, ends_well=True)
        spoilt += await _first(record.scenario, faults, rubric, ends_well=False)
    good = [*flawless_ones, *corrected]
    pairs = zip(good, spoilt, strict=False)
    return tuple(each for pair in pairs for each in pair)


async def _first(
    scenario: Scenario, faults: Iterable[PlantedFault], rubric: Rubric, ends_well: bool
) -> list[ConversationRecord]:
    """Return the scenario's conversation with the first fault after which it ends so, if any."""
    for fault in faults:
        record = await play(scenario, fault, _TURNS)
        lasted = len(record.trajectory.turns) == _TURNS
        kept = all(each.value == 1.0 for each in evaluate(rubric, record))
        if lasted and kept is ends_well:
            return [record]
    return []
