"""Judging: many conversations, each decided at most once, in constant memory but for their keys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from ..agents.budget import Budget
from ..agents.errors import Fault, FaultError
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Ledger, Spending, charged_to
from ..simulation.account import Account
from ..simulation.journal import Journal
from ..simulation.paused import PausedError, allowed_faults
from ..simulation.played import spending_from_json, spending_to_json
from ..simulation.trajectory_json import trajectory_to_json
from .evaluate import evaluate
from .judge import Judge
from .judged import judged
from .rubric import Rubric
from .ruling import Ruling, rule, rule_on_fault
from .subject import ConversationRecord
from .verdict import Status, Verdict
from .verdict_file import verdict_json
from .verdicts import Verdicts

KIND = "verdicts"


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation to be judged.

    Attributes:
        number: Its place in the trajectories file, from 1.
        record: The conversation with its scenario.
    """

    number: int
    record: ConversationRecord


class JudgingObserver(Protocol):
    """Receives what happens; calls and money are in the ledger."""

    def decided(self, case: Case, *, replayed: bool) -> None:
        """A conversation has its verdicts, or needs none; or they were in the journal."""
        ...

    def lost(self, case: Case, fault: Fault) -> None:
        """A conversation could not be judged."""
        ...


@dataclass
class Judging:
    """Decides cases, some at a time, and holds none that is decided.

    Conversations that broke off are not read. What is decided is journaled under its content: the
    conversation, the scenario, the rubric and the judge. A conversation that the judge cannot be
    asked about is lost: not journaled, so that the same command tries again; too many pause the
    run.

    Attributes:
        rubric: By what is judged.
        judge: Who decides what checks leave open; nobody when None.
        journal: Where verdicts are kept.
        ledger: Where calls are counted.
        budget: What limits them.
        observer: Who is told.
        concurrency: Conversations that are judged at once.
        fault_threshold: Share of conversations that may be lost before the run pauses.
        lost: Why conversations were lost, by journal key.
    """

    rubric: Rubric
    judge: Judge | None
    journal: Journal
    ledger: Ledger
    budget: Budget
    observer: JudgingObserver
    concurrency: int = 1
    fault_threshold: float = 0.05
    lost: dict[str, Fault] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._account.count_in_vain()

    async def run(self, cases: Iterable[Case], total: int) -> None:
        """Decide all cases that are not in the journal.

        Args:
            cases: The cases.
            total: How many there are.

        Raises:
            BudgetExhaustedError: The rest does not fit in the budget.
            PausedError: Too many are lost.
            ModelUnusableError: No model call can succeed.

            Cases that are being judged end first, and all that are decided are in the journal.
        """
        stop: list[Exception] = []
        queue = iter(cases)

        async def decide_in_turn() -> None:
            for case in queue:
                if stop:
                    return
                try:
                    await self._decide(case)
                    self._check_faults(total)
                except Exception as error:  # a defect, too, lets the others end first
                    stop.append(error)

        await asyncio.gather(*(decide_in_turn() for _ in range(self.concurrency)))
        if stop:
            raise stop[0]

    def rulings(self, cases: Iterable[Case]) -> Iterator[Ruling]:
        """Yield what is known of each case, in their order; those not yet judged are left out."""
        for case in cases:
            trajectory, key = case.record.trajectory, self._key(case)
            fault = trajectory.fault or self.lost.get(key)
            if fault is not None:
                yield rule_on_fault(case.number, trajectory, self.rubric, self._checked_by, fault)
            elif (kept := self.journal.get(key)) is not None:
                yield rule(case.number, case.record, self.rubric, _verdicts(kept))

    async def _decide(self, case: Case) -> None:
        key = self._key(case)
        if case.record.trajectory.fault is not None or key in self._begun:
            self.observer.decided(case, replayed=False)
            return
        self._begun.add(key)
        kept = self.journal.get(key)
        if kept is None:
            await self._decide_now(case, key)
        else:
            self._account.count_earlier(spending_from_json(kept["spending"]))
            self.observer.decided(case, replayed=True)
        await asyncio.sleep(0)  # a long replay, too, lets others have their turn

    async def _decide_now(self, case: Case, key: str) -> None:
        try:
            with charged_to(key=key):
                verdicts = await self._verdicts(case.record)
        except FaultError as error:
            self._account.spend_in_vain(self.ledger.collect_parts(key))
            self.lost[key] = error.fault
            self.observer.lost(case, error.fault)
        except BaseException:  # a person who stops the run has paid, too
            self._account.spend_in_vain(self.ledger.collect_parts(key))
            raise
        else:
            self.journal.put(key, _kept(verdicts, self.ledger.collect_parts(key)))
            self.observer.decided(case, replayed=False)

    async def _verdicts(self, record: ConversationRecord) -> Verdicts:
        if self.judge is None:
            return Verdicts(evaluate(self.rubric, record), self._checked_by)
        return await judged(self.rubric, record, self.judge)

    def _key(self, case: Case) -> str:
        """Return the journal key: the content that determines the verdicts."""
        record = case.record
        conversation = trajectory_to_json(record.trajectory)
        return Journal.key(KIND, [conversation, record.scenario.fingerprint, self._yardstick])

    @cached_property
    def _checked_by(self) -> Mapping[str, str]:
        return {"rubric": self.rubric.fingerprint}

    @cached_property
    def _yardstick(self) -> tuple[str, Mapping[str, Any] | None]:
        """What does not differ from case to case; the rubric's fingerprint reads files."""
        return self._checked_by["rubric"], None if self.judge is None else self.judge.identity

    @cached_property
    def _account(self) -> Account:
        """What this judge was paid by this rubric, over all invocations."""
        note = f"judging_in_vain:{fingerprint(self._yardstick)}"
        return Account(self.journal, self.ledger, self.budget, note)

    def _check_faults(self, total: int) -> None:
        """Pause when too many are lost."""
        if len(self.lost) > allowed_faults(self.fault_threshold, total):
            *_, last = self.lost.values()
            raise PausedError(
                f"The run paused: {len(self.lost)} of {total} conversations could not be judged, "
                f"the last one for a {last.origin} fault ({last.kind}): {last.message}. Nothing "
                "is lost. Mend the cause and run the same command again; it goes on from here."
            )


def _kept(verdicts: Verdicts, spending: Spending) -> dict[str, Any]:
    return {
        "verdicts": [verdict_json(each) for each in verdicts.verdicts],
        "by": dict(verdicts.by),
        "spending": spending_to_json(spending),
    }


def _verdicts(kept: Mapping[str, Any]) -> Verdicts:
    return Verdicts(tuple(_verdict(each) for each in kept["verdicts"]), kept["by"])


def _verdict(kept: Mapping[str, Any]) -> Verdict:
    status, evidence = Status(kept["status"]), tuple(kept["evidence"])
    return Verdict(**{**kept, "status": status, "evidence": evidence})
