"""The acceptor: plays what is needed to decide on a child, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..agents.fingerprint import fingerprint
from ..agents.prompts import PromptBundle
from ..rubrics.statistics import one_sided_margin
from .acceptance import Decision, critical_regressions, decide, unquoted
from .confirmation import Confirmation
from .evaluator import Evaluator
from .example import Example
from .racing import Race, differences
from .rollout import Rollout, scored_pairs
from .settings import Search

_SURE = 0.9  # one-sided
_PRIOR_VARIANCE = 0.25  # of a paired difference of half the scale


@dataclass(frozen=True, slots=True)
class Pairing:
    """A child and its parent, played on the same train examples.

    Attributes:
        parent: The parent's prompts.
        child: The child's prompts.
        before: The parent's rollouts on the minibatch.
        helped: Whether the faults fell that the child was to mend; then it need only not be surely
            worse, else it must be surely better. None where that is not known.
    """

    parent: PromptBundle
    child: PromptBundle
    before: Sequence[Rollout]
    helped: bool | None = None


@dataclass(frozen=True)
class Acceptor:
    """Decides on children: on train against the parent, and by their safety on val.

    Attributes:
        settings: How.
        train: From where a race takes further examples, always in the same order, so that a
            parent is played on each of them once however many children it has.
        val: What every accepted child is scored on.
        evaluator: Who plays.
        race: The sequential test.
    """

    settings: Search
    train: Sequence[Example]
    val: Sequence[Example]
    evaluator: Evaluator
    race: Race

    @cached_property
    def confirmation(self) -> Confirmation:
        """What plays again where safety is disputed."""
        return Confirmation.over(self.evaluator, (*self.train, *self.val))

    async def decide(self, pairing: Pairing) -> Decision:
        """Decide whether the child joins the pool.

        Raises:
            BudgetExhaustedError: The budget ended before it was decided.
            PausedError: Too many faults.
        """
        raced = self.settings.acceptance == "race"
        decision = await (self._raced(pairing) if raced else self._compared(pairing))
        return await self._safe_on_val(pairing, decision) if decision.accepted else decision

    async def _compared(self, pairing: Pairing) -> Decision:
        """Compare on the minibatch; what credit says moves the burden of proof."""
        after = await self.evaluator.evaluate(self._examples(pairing), pairing.child)
        compared = await self._comparable(pairing, pairing.before, after)
        gains = differences(*compared)
        if pairing.helped is None or not gains:
            return decide(*compared, self.settings.min_gain)
        margin = one_sided_margin(gains, _SURE, _PRIOR_VARIANCE)
        return decide(*compared, -margin if pairing.helped else margin)

    def recalled(self, pairing: Pairing) -> list[Rollout]:
        """Return what the child was decided by on the minibatch."""
        return self.evaluator.recall(self._examples(pairing), pairing.child)

    def _examples(self, pairing: Pairing) -> list[Example]:
        by_id = {example.id: example for example in self.train}
        return [by_id[rollout.example] for rollout in pairing.before]

    async def _raced(self, pairing: Pairing) -> Decision:
        """Add examples until the two can be told apart or there is nothing to add."""
        before = list(pairing.before)
        after = await self.evaluator.evaluate(self._examples(pairing), pairing.child)
        played = {rollout.example for rollout in before}
        room = max(0, self.settings.race.most - len(before))
        rest = [each for each in _shuffled(self.train) if each.id not in played][:room]
        while True:
            compared = await self._comparable(pairing, before, after)
            decision = self.race.look(*compared, exhausted=not rest)
            if decision is not None:
                return decision
            step, rest = rest[: self.settings.race.step], rest[self.settings.race.step :]
            after += await self.evaluator.evaluate(step, pairing.child)
            before += await self.evaluator.evaluate(step, pairing.parent)

    async def _safe_on_val(self, pairing: Pairing, accepted: Decision) -> Decision:
        """Play the child on val, and turn it down where it is less safe."""
        child = await self.evaluator.evaluate(self.val, pairing.child)
        parent = self.evaluator.recall(self.val, pairing.parent)
        reason = _less_safe(*await self._confirmed(pairing, parent, child))
        return accepted if reason is None else replace(accepted, accepted=False, reason=reason)

    async def _comparable(
        self, pairing: Pairing, before: Sequence[Rollout], after: Sequence[Rollout]
    ) -> tuple[list[Rollout], list[Rollout]]:
        """Leave out what one of the two quotes, and critical failures that were bad luck."""
        kept = unquoted(before, after, pairing.parent, pairing.child)
        return await self._confirmed(pairing, *kept)

    async def _confirmed(
        self, pairing: Pairing, before: Sequence[Rollout], after: Sequence[Rollout]
    ) -> tuple[list[Rollout], list[Rollout]]:
        return await self.confirmation.confirmed(pairing.parent, pairing.child, before, after)


def _less_safe(parent: Sequence[Rollout], child: Sequence[Rollout]) -> str | None:
    """Say which critical criterion fails more often with the child."""
    compared = len(scored_pairs(parent, child))
    return next(
        (
            f"critical criterion {name} fails more often on val ({before} → {after} of "
            f"{compared} examples)"
            for name, (before, after) in critical_regressions(parent, child).items()
        ),
        None,
    )


def _shuffled(examples: Sequence[Example]) -> list[Example]:
    """Return the examples in an order that mixes families and is the same in every run."""
    return sorted(examples, key=lambda example: fingerprint(example.id))
