"""Faults: what a proposal is to mend, and whether it did.

A fault is a criterion that fails again and again by the fault of one agent, or of several that
share the blame. A proposal mends one fault of an agent at a time, so that rollouts show whether
the agent's new text helped: where the fault did not fall, the edit did not work, whatever the
score says. So of a child that changes several agents the part that helped is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from ..agents.prompts import PromptBundle
from .experience import Experience, Rate

_AGAIN = 2  # what happened once may be chance
_OFTEN = 1 / 3  # of the times that the criterion applied
_SURE = 1.0  # standard errors


@dataclass(frozen=True, slots=True)
class Fault:
    """A criterion that fails, and who is to blame.

    Attributes:
        criterion: Its name.
        agents: Whose texts must change, together.
        often: Whether it fails too often to be noise.
    """

    criterion: str
    agents: tuple[str, ...]
    often: bool = True


def to_mend(experience: Experience, bundle: PromptBundle, agents: Collection[str]) -> list[Fault]:
    """Return the gravest faults, one of each agent at most.

    Args:
        experience: What was played so far.
        bundle: The prompts that have the faults.
        agents: Whose prompts may change.
    """
    chosen: list[Fault] = []
    free = set(agents)
    for fault in _recurring(experience, bundle, agents):
        if free.issuperset(fault.agents):
            chosen.append(fault)
            free.difference_update(fault.agents)
    return chosen


def mended(
    experience: Experience, parent: PromptBundle, child: PromptBundle, faults: Sequence[Fault]
) -> dict[Fault, bool]:
    """Return of each fault whether it fell beyond noise from parent to child."""
    return {fault: _fall(experience, parent, child, fault) > _SURE for fault in faults}


def helpful_part(
    parent: PromptBundle, child: PromptBundle, mended: Mapping[Fault, bool]
) -> PromptBundle:
    """Return the parent with the child's texts of the agents whose fault fell.

    Texts that nobody's fault asked for, such as a reader's across a hand-off, go with the others.
    """
    blamed = {agent for fault in mended for agent in fault.agents}
    kept = {agent for fault, fell in mended.items() if fell for agent in fault.agents}
    texts = {
        agent: child[agent].text
        for agent in child
        if agent in kept or (kept and agent not in blamed)
    }
    return parent.with_texts(texts)


def said_of(mended: Mapping[Fault, bool]) -> str:
    """Say which faults fell and which did not."""
    fell = [fault.criterion for fault, found in mended.items() if found]
    still = [fault.criterion for fault, found in mended.items() if not found]
    helped = f"the edits for {', '.join(fell)} helped" if fell else "no edit helped"
    return f"{helped}; as often as before fails {', '.join(still)}"


def _recurring(
    experience: Experience, bundle: PromptBundle, agents: Collection[str]
) -> list[Fault]:
    """Return the faults that happened again, the gravest first, and none that is rare beside it."""
    rates = {
        (name, agent): rate
        for agent in agents
        for name, rate in experience.rates(bundle, [agent]).items()
        if rate.failed >= _AGAIN
    }
    least = max((rate.mean for rate in rates.values()), default=0.0) / 3
    found: dict[str, dict[str, Rate]] = {}
    for (name, agent), rate in rates.items():
        if rate.mean >= least:
            found.setdefault(name, {})[agent] = rate
    faults = [
        Fault(name, tuple(who), max(rate.mean for rate in who.values()) >= _OFTEN)
        for name, who in found.items()
    ]
    gravity = {name: max(map(_gravity, who.values())) for name, who in found.items()}
    return sorted(faults, key=lambda fault: (-gravity[fault.criterion], fault.criterion))


def _gravity(rate: Rate) -> float:
    """What fails always comes before what fails sometimes, and what applies often before rare."""
    return rate.mean * rate.failed


def _fall(experience: Experience, parent: PromptBundle, child: PromptBundle, fault: Fault) -> float:
    """Return by how many standard errors the share of failures fell."""
    before, after = (
        experience.rates(bundle, fault.agents).get(fault.criterion) for bundle in (parent, child)
    )
    if before is None or after is None:
        return 0.0
    return (before.mean - after.mean) / sqrt(before.variance + after.variance)
