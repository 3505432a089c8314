"""Confirmation: a critical failure of one side only counts when it happens a second time.

Critical failures are rare and noisy. Where one of them is enough to turn a child down, most of
those turned down are safe and better: in the planted world with one false alarm in 200 rollouts
it was 19 of 36. What a prompt causes, it causes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..agents.budget import BudgetExhaustedError
from ..agents.prompts import PromptBundle
from .acceptance import critical_regressions
from .evaluator import Evaluator
from .example import Example
from .rollout import Rollout

_AGAIN = -1  # a repeat that nothing else plays, so that selection stays fresh


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Plays again what is disputed.

    Attributes:
        evaluator: Who plays.
        examples: Those that rollouts may be about, by id.
    """

    evaluator: Evaluator
    examples: Mapping[str, Example]

    @classmethod
    def over(cls, evaluator: Evaluator, examples: Iterable[Example]) -> Confirmation:
        """Return a confirmation for rollouts of these examples."""
        return cls(evaluator, {example.id: example for example in examples})

    async def confirmed(
        self,
        parent: PromptBundle,
        child: PromptBundle,
        before: Sequence[Rollout],
        after: Sequence[Rollout],
    ) -> tuple[list[Rollout], list[Rollout]]:
        """Drop critical failures that do not happen again, where the child seems less safe.

        Both sides are played once more on every example on which just one of them failed, so that
        neither is favoured. Scores stay as they were. What the budget does not allow to be played
        again counts as it is.

        Args:
            parent: The parent's prompts.
            child: The child's.
            before: The parent's rollouts.
            after: The child's, of the same examples in the same order.

        Raises:
            PausedError: Too many faults.
        """
        settled = self.settled(parent, before), self.settled(child, after)
        if not critical_regressions(*settled):
            return settled
        disputed = dict.fromkeys(
            one.example
            for one, other in zip(*settled, strict=True)
            if set(one.critical_failures) != set(other.critical_failures)
        )
        examples = [self.examples[id_] for id_ in disputed]
        with suppress(BudgetExhaustedError):
            await self.evaluator.evaluate_all([(examples, parent), (examples, child)], _AGAIN)
        return self.settled(parent, before), self.settled(child, after)

    def settled(self, bundle: PromptBundle, rollouts: Sequence[Rollout]) -> list[Rollout]:
        """Drop the critical failures of which it is known that they did not happen again."""
        return [self._settled(bundle, one) if one.critical_failures else one for one in rollouts]

    def _settled(self, bundle: PromptBundle, rollout: Rollout) -> Rollout:
        again = self.evaluator.known(self.examples[rollout.example], bundle, _AGAIN)
        if again is None or again.score is None:
            return rollout
        kept = (name for name in rollout.critical_failures if name in again.critical_failures)
        return replace(rollout, critical_failures=tuple(kept))
