"""The evaluator: plays many rollouts at once, each paid for at most once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..agents.budget import Budget
from ..agents.errors import Fault
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Ledger, Spending, charged_to
from ..agents.prompts import PromptBundle
from ..simulation.account import Account
from ..simulation.journal import Journal
from ..simulation.paused import PausedError, allowed_faults
from ..simulation.played import added
from .example import Example
from .observer import Observer
from .rollout import Rollout
from .task import Task

_FORM = 3  # of a rollout in the journal; an older one is not read
_IN_VAIN = "rollouts_in_vain"


@dataclass(slots=True)
class Evaluator:
    """Scores candidates on examples.

    A rollout is looked up in memory, then in the journal, and only then played; what is played
    is journaled before it is used. Results come back in the order of the examples, whatever
    order they finish in.

    Attributes:
        task: What is scored.
        journal: Where results are kept.
        ledger: Where calls are counted.
        budget: What limits them.
        observer: Who is told.
        fault_threshold: Share of rollouts that may be lost to faults before the run pauses.
    """

    task: Task[Any]
    journal: Journal
    ledger: Ledger
    budget: Budget
    observer: Observer
    fault_threshold: float = 0.05
    faults: list[Fault] = field(default_factory=list)
    _identity: str = field(init=False)
    _account: Account = field(init=False)
    _known: dict[str, Rollout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._identity = fingerprint(self.task.identity(), 32)
        self._account = Account(self.journal, self.ledger, self.budget, _IN_VAIN)
        self._account.count_in_vain()

    async def evaluate(
        self, examples: Sequence[Example], candidate: PromptBundle, repeat: int = 0
    ) -> list[Rollout]:
        """Score a candidate on examples, one rollout each.

        Raises:
            BudgetExhaustedError: Not all rollouts fit in the budget; none was started, or those
                already in flight were finished and journaled.
            PausedError: Too many faults.
            ModelUnusableError: No model call can succeed.
        """
        return (await self.evaluate_all([(examples, candidate)], repeat))[0]

    async def evaluate_all(
        self, work: Sequence[tuple[Sequence[Example], PromptBundle]], repeat: int = 0
    ) -> list[list[Rollout]]:
        """Score candidates, each on examples of its own, all side by side; see `evaluate`."""
        keys = [self._keys(examples, candidate, repeat) for examples, candidate in work]
        missing = {
            key: (example, candidate)
            for (examples, candidate), found in zip(work, keys, strict=True)
            for example, key in zip(examples, found, strict=True)
            if key not in self._known
        }
        self.budget.take(len(missing))
        await self._play({k: each for k, each in missing.items() if not self._replayed(k)}, repeat)
        return [[self._known[key] for key in found] for found in keys]

    def recall(
        self, examples: Sequence[Example], candidate: PromptBundle, repeat: int = 0
    ) -> list[Rollout]:
        """Return rollouts that `evaluate` has returned before.

        Raises:
            KeyError: One was never evaluated in this run.
        """
        return [self._known[key] for key in self._keys(examples, candidate, repeat)]

    def known(self, example: Example, candidate: PromptBundle, repeat: int = 0) -> Rollout | None:
        """Return a rollout that this run has evaluated, or None."""
        return self._known.get(self._keys([example], candidate, repeat)[0])

    def _keys(self, examples: Sequence[Example], candidate: PromptBundle, repeat: int) -> list[str]:
        prompts = candidate.only(*self.task.seed).fingerprint
        contents = (
            [_FORM, self._identity, example.id, example.fingerprint, prompts, repeat]
            for example in examples
        )
        return [Journal.key("rollout", content) for content in contents]

    def _replayed(self, key: str) -> bool:
        record = self.journal.get(key)
        if record is None:
            return False
        rollout = Rollout.from_json(record)
        self._account.count_earlier(rollout.spending)
        self._keep(key, rollout, replayed=True)
        return True

    async def _play(self, work: Mapping[str, tuple[Example, PromptBundle]], repeat: int) -> None:
        """Play rollouts side by side; journal each as it ends, exclusions when all have."""
        lost: dict[str, Rollout] = {}
        stop: list[Exception] = []
        allowed = allowed_faults(self.fault_threshold, self.budget.rollouts)

        async def play(key: str, example: Example, candidate: PromptBundle) -> None:
            try:
                with charged_to(key=key):
                    rollout = await self.task.rollout(example, candidate, repeat)
            except Exception as error:  # a bug in the task, too, lets the others end first
                self._account.spend_in_vain(self.ledger.collect_parts(key))
                stop.append(error)
                return
            spent = added(rollout.spending, self.ledger.collect_parts(key))
            rollout = replace(rollout, spending=spent)
            if rollout.fault is None:
                self._keep(key, self._journaled(key, rollout), replayed=False)
                return
            lost[key] = rollout
            if len(self.faults) + len(lost) > allowed:
                stop.append(_paused(rollout.fault, len(self.faults) + len(lost), self.budget))

        queue = iter(work.items())

        async def play_in_turn() -> None:
            for key, (example, candidate) in queue:
                if stop:
                    return
                await play(key, example, candidate)

        await asyncio.gather(*(play_in_turn() for _ in range(self.task.concurrency)))
        if stop:
            wasted: Spending = {}
            for one in lost.values():
                wasted = added(wasted, one.spending)
            self._account.spend_in_vain(wasted)
            raise stop[0]
        # An exclusion becomes part of the run only when the run goes on with it: after a pause
        # the lost rollouts are played again.
        for key, rollout in lost.items():
            self._keep(key, self._journaled(key, rollout), replayed=False)

    def _journaled(self, key: str, rollout: Rollout) -> Rollout:
        return Rollout.from_json(self.journal.keep(key, rollout.to_json()))

    def _keep(self, key: str, rollout: Rollout, *, replayed: bool) -> None:
        self._known[key] = rollout
        if rollout.fault is not None:
            self.faults.append(rollout.fault)
        self.observer.rolled_out(replayed=replayed, fault=rollout.fault)


def _paused(fault: Fault, lost: int, budget: Budget) -> PausedError:
    return PausedError(
        f"The run paused: {lost} of {budget.rollouts} rollouts were lost to faults that are not "
        f"the assistant's, the last one {fault.origin} ({fault.kind}): {fault.message}. Nothing "
        "was scored wrongly and nothing is lost. Mend the cause and run the same command again; "
        "it goes on from here."
    )
