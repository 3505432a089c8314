"""Single changes: what each agent's part of a joint winner earns alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..agents.budget import BudgetExhaustedError
from ..agents.prompts import PromptBundle
from .evaluator import Evaluator
from .example import Example
from .rollout import mean_score, scored_pairs

_PLAYED = 1  # the first of the selection's fresh repeats


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
    seed: PromptBundle, changes: Mapping[str, str], val: Sequence[Example], evaluator: Evaluator
) -> tuple[SingleChange, ...]:
    """Play each change alone on val, as far as the budget goes.

    It explains a winner and chooses nothing, so it is done after the test with what is left.

    Args:
        seed: The prompts that the run started from, which the selection played on all of val.
        changes: The winner's texts that differ from the seed's, by agent.
        val: The val split.
        evaluator: Who plays.
    """
    found: list[SingleChange] = []
    of_seed = evaluator.recall(val, seed, _PLAYED)
    for agent, text in changes.items():
        try:
            rollouts = await evaluator.evaluate(val, seed.with_texts({agent: text}), _PLAYED)
        except BudgetExhaustedError:
            break
        pairs = scored_pairs(of_seed, rollouts)
        before, after = (mean_score([pair[side] for pair in pairs]) for side in (0, 1))
        if before is not None and after is not None:
            found.append(SingleChange(agent, after, after - before))
    return tuple(found)
