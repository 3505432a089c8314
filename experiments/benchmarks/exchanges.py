"""Single exchanges with the grocery assistant, and simulated people who annotate them.

What is right is known from the world: whether the cart changed, and whether products were put on
the screen. Three people see it, each wrong at random in a known share of the items, so the
ceiling of any judge is known too. They give the reason that the world gives.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...rubrics.annotation import Annotation
from ...rubrics.conversation_name import conversation_name
from ...simulation.scenario import Scenario
from ...simulation.trajectory import Trajectory
from .credit import play
from .planted_faults import FAULTS

_TURNS = 3
_LONGEST = 420  # characters of a reply; an embedded model reads slowly
_PEOPLE = ("ada", "ben", "cem")
DONE, OFFERED = "done", "offered"
_REASONS: Mapping[tuple[str, bool], str] = {
    (DONE, True): 'The reply says what is in the cart now: "In the cart", or that it is empty.',
    (DONE, False): "The reply says nothing of the cart, however many products it shows.",
    (OFFERED, True): 'The reply shows products with numbers and prices, after "On the screen".',
    (OFFERED, False): "The reply shows no products with numbers and prices; a cart is no offer.",
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """One message and its reply.

    Attributes:
        trajectory: The exchange as a conversation of one turn.
        truth: By criterion, what the world's state shows.
    """

    trajectory: Trajectory
    truth: Mapping[str, bool]


async def exchanges(scenarios: Iterable[Scenario], most: int, shift: int = 0) -> list[Exchange]:
    """Return exchanges, one of a scenario at most, those of each kind in turn.

    Args:
        scenarios: Of the grocery world.
        most: How many at most.
        shift: Another one plants other faults, so other things are said.
    """
    kinds: defaultdict[tuple[bool, ...], list[Exchange]] = defaultdict(list)
    seen: set[str] = set()
    for number, scenario in enumerate(scenarios, shift):
        fault = FAULTS[number % len(FAULTS)] if number % 3 else None
        record = await play(scenario, fault, _TURNS)
        fresh = [each for each in _cut(record.trajectory) if _said(each.trajectory) not in seen]
        if fresh:
            rarest = min(fresh, key=lambda each: len(kinds[tuple(each.truth.values())]))
            kinds[tuple(rarest.truth.values())].append(rarest)
            seen.add(_said(rarest.trajectory))
    chosen = [each for group in zip(*kinds.values(), strict=False) for each in group]
    return chosen[:most]


def people_say(found: Iterable[Exchange], wrong: float, seed: int = 0) -> Iterator[Annotation]:
    """Yield what people say, each of them wrong in this share of the items."""
    for exchange in found:
        trajectory = exchange.trajectory
        name = conversation_name(trajectory.scenario, trajectory.metadata)
        for criterion, truth in exchange.truth.items():
            for person in _PEOPLE:
                slips = random.Random(f"{seed}/{name}/{criterion}/{person}").random() < wrong
                said = truth is not slips
                yield Annotation(
                    conversation=name,
                    criterion=criterion,
                    annotator=person,
                    value=float(said),
                    rationale=_REASONS[criterion, said],
                )


def _cut(trajectory: Trajectory) -> Iterator[Exchange]:
    before = trajectory.initial_state
    for turn in trajectory.turns:
        if len(turn.reply.text) <= _LONGEST:
            truth = {
                DONE: _cart(turn.state) != _cart(before),
                OFFERED: bool(turn.state["shown"]) and turn.state["shown"] != before["shown"],
            }
            metadata = {"family": trajectory.metadata.get("family", "")}
            alone = replace(
                trajectory, turns=(turn,), initial_state=before, metadata=metadata, fault=None
            )
            yield Exchange(alone, truth)
        before = turn.state


def _cart(state: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return [(line["name"], line["quantity"]) for line in state["cart"]]


def _said(trajectory: Trajectory) -> str:
    (turn,) = trajectory.turns
    return f"{turn.message}\n{turn.reply.text}"
