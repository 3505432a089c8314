"""Customers who say one message from a template and leave: the simplest there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from ...agents.errors import UsageError
from ..scenario import ItemErrand, Scenario
from ..trajectory import StopReason, Trajectory
from ..user import Say, Stop, UserMove

_OPENINGS = ("I would like", "I am looking for")


@dataclass(frozen=True, slots=True)
class TemplateUsers:
    """Customers who name all they want in the end in one message, and stop after the reply.

    Level I of the fashion assistants' simulated customers (arXiv 2408.08907).
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """The name of the kind."""
        return {"user": "template"}

    def start(self, scenario: Scenario, seed: int) -> _TemplateUser:
        """Return a customer.

        Raises:
            UsageError: The scenario has no errand.
        """
        wanted = scenario.final
        if not wanted.errands:
            raise UsageError(
                "a template customer has nothing to say without an errand. Give it one, or choose "
                "the agenda customer."
            )
        opening = Random(f"{seed} {scenario.seed} {scenario.id}").choice(_OPENINGS)
        items = " and ".join(_items(wanted))
        request = [f"{opening} {items}."] if items else []
        return _TemplateUser(" ".join([*request, *_other_errands(wanted)]))


@dataclass(frozen=True, slots=True)
class _TemplateUser:
    message: str

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        return Stop(StopReason.SCRIPT_ENDED) if so_far.turns else Say(self.message)


def _items(scenario: Scenario) -> Iterator[str]:
    """Yield each wanted item with all its terms, such as `2 oat milk, vegan, from Alpro`."""
    for errand in scenario.errands:
        if isinstance(errand, ItemErrand) and errand.quantity:
            terms = (*scenario.constraints, *errand.must, *scenario.preferences, *errand.prefer)
            count = f"{errand.quantity} " if errand.quantity > 1 else ""
            yield ", ".join([f"{count}{errand.item}", *(term.say for term in terms)])


def _other_errands(scenario: Scenario) -> Iterator[str]:
    """Yield the scenario's own words for whatever is not an item to be had."""
    for errand in scenario.errands:
        match errand:
            case ItemErrand(quantity=0):
                yield errand.say or f"Please take the {errand.item} out."
            case ItemErrand():
                pass
            case _:
                yield errand.say
