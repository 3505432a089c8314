"""The four arms, and what each may spend."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...agents.budget import Limits

WHOLE = "whole assistant"
"""Name of the node that is all agents together."""


class Arm(StrEnum):
    """Which prompts."""

    SEED = "a"
    ALONE = "b"
    TOGETHER = "c"
    BOTH = "d"


TITLES = {
    Arm.SEED: "seed",
    Arm.ALONE: "sub-agent GEPA",
    Arm.TOGETHER: "MAMuT",
    Arm.BOTH: "MAMuT from (b)",
}
EXPLAINED = {
    Arm.SEED: "The prompts as they come.",
    Arm.ALONE: "Each agent's prompt improved alone on its own share of the score, with an equal "
    "part of the budget; the winners combined.",
    Arm.TOGETHER: "All prompts improved together, from the seed, with the whole budget.",
    Arm.BOTH: "Half the budget on the sub-agents as in (b), half on all prompts together from "
    "there.",
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One run of the engine.

    Attributes:
        arm: For which arm.
        node: The agent that is improved, or `WHOLE`.
        rollouts: It may spend on search and selection; the test comes on top.
    """

    arm: Arm
    node: str
    rollouts: int

    @property
    def name(self) -> str:
        """What it is called, for people."""
        return f"({self.arm}) {TITLES[self.arm]}: {self.node}"


def alone(arm: Arm, rollouts: int, agents: tuple[str, ...]) -> list[Stage]:
    """Divide rollouts evenly between agents; what does not divide is left unspent."""
    return [Stage(arm, agent, rollouts // len(agents)) for agent in agents]


def stages(rollouts: int, agents: tuple[str, ...]) -> list[Stage]:
    """Return all stages in the order in which they run, the same total for each arm."""
    half = rollouts // 2
    return [
        *alone(Arm.ALONE, rollouts, agents),
        Stage(Arm.TOGETHER, WHOLE, rollouts),
        *alone(Arm.BOTH, half, agents),
        Stage(Arm.BOTH, WHOLE, rollouts - half),
    ]


def part_of(limits: Limits, share: float, rollouts: int) -> Limits:
    """Return a share of the limits on tokens and money, and that many rollouts."""
    tokens = None if limits.tokens is None else max(1, int(limits.tokens * share))
    usd = None if limits.usd is None else limits.usd * share
    return Limits(rollouts=rollouts, tokens=tokens, usd=usd)
