"""Single changes: what each agent's part of a joint winner earns alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..agents.budget import BudgetExhaustedError
from .candidate import Candidate
from .evaluator import Evaluator
from .example import Example
from .rollout import mean_score, scored_pairs


@dataclass(frozen=True, slots=True)
class SingleChange:
    """The seed's prompts with one agent's prompt from the winner.

    Attributes:
        agent: The agent.
        score: Mean score on val, 0 to 1.
        gain: On the seed's, over the pairs that no fault hit. Where the gains of all agents do
            not add up to the winner's, the changes help or hinder each other.
    """

    agent: str
    score: float
    gain: float


async def single_changes(
    seed: Candidate, changes: Mapping[str, str], val: Sequence[Example], evaluator: Evaluator
) -> tuple[SingleChange, ...]:
    """Play each change alone on val, as far as the budget goes.

    It explains a winner and chooses nothing, so it is done after the test with what is left.

    Args:
        seed: With its rollouts on val.
        changes: The winner's texts that differ from the seed's, by agent.
        val: The val split.
        evaluator: Who plays.
    """
    found: list[SingleChange] = []
    for agent, text in changes.items():
        try:
            rollouts = await evaluator.evaluate(val, seed.bundle.with_texts({agent: text}))
        except BudgetExhaustedError:
            break
        pairs = scored_pairs(seed.val, rollouts)
        before, after = (mean_score([pair[side] for pair in pairs]) for side in (0, 1))
        if before is not None and after is not None:
            found.append(SingleChange(agent, after, after - before))
    return tuple(found)
