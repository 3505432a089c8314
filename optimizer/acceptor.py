"""The acceptor: plays what is needed to decide on a child, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..agents.fingerprint import fingerprint
from ..agents.prompts import PromptBundle
from .acceptance import Decision, critical_regressions, decide, unquoted
from .candidate import Pool
from .confirmation import Confirmation
from .evaluator import Evaluator
from .example import Example
from .racing import Race
from .rollout import Rollout, scored_pairs
from .settings import Search
from .val_policy import dominated, rungs


@dataclass(frozen=True, slots=True)
class Pairing:
    """A child and its parent, played on the same train examples.

    Attributes:
        parent: The parent's prompts.
        child: The child's prompts.
        before: The parent's rollouts on the minibatch.
        after: The child's, in the same order.
    """

    parent: PromptBundle
    child: PromptBundle
    before: Sequence[Rollout]
    after: Sequence[Rollout]


@dataclass(frozen=True)
class Acceptor:
    """Decides on children: on train against the parent, then on parts of val against the pool.

    Attributes:
        settings: How.
        train: From where a race takes further examples, always in the same order, so that a
            parent is played on each of them once however many children it has.
        val: Where a child that is clearly dominated on a part is given up.
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

    async def decide(self, pairing: Pairing, pool: Pool) -> Decision:
        """Decide whether the child joins the pool.

        Raises:
            BudgetExhaustedError: The budget ended before it was decided.
            PausedError: Too many faults.
        """
        match self.settings.acceptance:
            case "minibatch":
                compared = await self._comparable(pairing, pairing.before, pairing.after)
                decision = decide(*compared, self.settings.min_gain)
            case "race":
                decision = await self._raced(pairing)
        return await self._tried_on_val(pairing, decision, pool) if decision.accepted else decision

    async def _raced(self, pairing: Pairing) -> Decision:
        """Add examples until the two can be told apart or there is nothing to add."""
        before, after = list(pairing.before), list(pairing.after)
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

    async def _tried_on_val(self, pairing: Pairing, accepted: Decision, pool: Pool) -> Decision:
        """Play the child on val, and turn it down where it is dominated or less safe."""
        order = _shuffled(self.val)
        looks = rungs(len(order)) if self.settings.val == "halving" else [len(order)]
        for count in looks:
            part = order[:count]
            own = await self.evaluator.evaluate(part, pairing.child)
            if count < len(order):
                others = [self.evaluator.recall(part, each.bundle) for each in pool.scored()]
                reason = dominated(own, others)
            else:
                parents = self.evaluator.recall(part, pairing.parent)
                reason = _less_safe(*await self._confirmed(pairing, parents, own))
            if reason is not None:
                return Decision(False, reason, accepted.before, accepted.after)
        return accepted

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
