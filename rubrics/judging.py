"""Judging: many conversations, each decided at most once, in constant memory but for their keys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from ..agents.errors import Fault, FaultError
from ..simulation.paused import PausedError, allowed_faults
from .ruling import Ruling, rule, rule_on_fault
from .subject import ConversationRecord
from .verdict_journal import VerdictJournal


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
        decisions: By what and by whom is judged, and where verdicts are kept.
        observer: Who is told.
        concurrency: Conversations that are judged at once.
        fault_threshold: Share of conversations that may be lost before the run pauses.
        lost: Why conversations were lost, by journal key.
    """

    decisions: VerdictJournal
    observer: JudgingObserver
    concurrency: int = 1
    fault_threshold: float = 0.05
    lost: dict[str, Fault] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.decisions.account.count_in_vain()

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
            trajectory, key = case.record.trajectory, self.decisions.key(case.record)
            fault = trajectory.fault or self.lost.get(key)
            if fault is not None:
                by = self.decisions.checked_by
                yield rule_on_fault(case.number, trajectory, self.decisions.rubric, by, fault)
            elif (verdicts := self.decisions.known(key)) is not None:
                yield rule(case.number, case.record, self.decisions.rubric, verdicts)

    async def _decide(self, case: Case) -> None:
        key = self.decisions.key(case.record)
        if case.record.trajectory.fault is not None or key in self._begun:
            self.observer.decided(case, replayed=False)
            return
        self._begun.add(key)
        try:
            decided = await self.decisions.decide(key, case.record)
        except FaultError as error:
            self.lost[key] = error.fault
            self.observer.lost(case, error.fault)
        else:
            self.observer.decided(case, replayed=decided.replayed)
        await asyncio.sleep(0)  # a long replay, too, lets others have their turn

    def _check_faults(self, total: int) -> None:
        """Pause when too many are lost."""
        if len(self.lost) > allowed_faults(self.fault_threshold, total):
            *_, last = self.lost.values()
            raise PausedError(
                f"The run paused: {len(self.lost)} of {total} conversations could not be judged, "
                f"the last one for a {last.origin} fault ({last.kind}): {last.message}. Nothing "
                "is lost. Mend the cause and run the same command again; it goes on from here."
            )
