"""The simulator: plays thousands of conversations, each paid for at most once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..agents.budget import Budget
from ..agents.counted import counted
from ..agents.errors import Fault
from ..agents.ledger import Ledger
from .account import Account
from .attempts import Attempts
from .engines.engine import Engine
from .journal import Journal
from .observer import SimulationObserver, Unwatched
from .paused import PausedError, allowed_faults
from .played import Played
from .summary import FaultCounts, Summary
from .work import Units, Work

IN_VAIN = "simulation_in_vain"
# Seconds between the first conversations. Those that start together stay in step: all wait for
# the model at once, and then all for this process.
_APART = 0.003


@dataclass(slots=True, kw_only=True)
class Simulator:
    """Plays work, lazily and side by side, and holds no conversation that has ended.

    A conversation is looked up in the journal and else played; what is played is journaled
    before it is used. After a fault that is nobody's lesson it is played again. One that stays
    faulty is excluded, and too many of those pause the run.

    Attributes:
        engine: Where conversations are played.
        identity: Fingerprint of who plays, part of every journal key.
        journal: Where results are kept.
        ledger: Where calls are counted.
        budget: What limits them; one rollout is one conversation.
        observer: Who is told.
        again: How often a conversation is played again after faults.
        fault_threshold: Share of conversations that may be lost before the run pauses.
        summary: Of the current run, or the last one.
    """

    engine: Engine
    identity: str
    journal: Journal
    ledger: Ledger
    budget: Budget
    observer: SimulationObserver = field(default_factory=Unwatched)
    again: int = 2
    fault_threshold: float = 0.05
    summary: Summary = field(default_factory=Summary)
    _in_flight: int = 0
    _account: Account = field(init=False)
    _attempts: Attempts = field(init=False)

    def __post_init__(self) -> None:
        self._account = Account(self.journal, self.ledger, self.budget, IN_VAIN)
        self._account.count_in_vain()
        self._attempts = Attempts(self.engine, self._account, self.again, self.observer)

    async def run(self, work: Units) -> Summary:
        """Play all of it that is not in the journal.

        Whatever it raises, all that ended is in the journal and counted in `summary`; the same
        run goes on from there.

        Raises:
            BudgetExhaustedError: The rest does not fit in the budget, at the mean of what has
                ended. Conversations in flight end first, unless the budget ends before them.
            PausedError: Too many faults; conversations in flight end first.
            ModelUnusableError: No model call can succeed.
        """
        self.summary = Summary()
        lost: dict[str, tuple[Work, Played]] = {}
        stop: list[BaseException] = []
        queue = iter(work)

        async def play_in_turn(number: int) -> None:
            await asyncio.sleep(number * _APART)
            for unit in queue:
                if stop:
                    return
                try:
                    await self._play(unit, lost)
                    self._check_faults(lost, len(work))
                # A defect, too, or an observer that ends the program, lets the others end first.
                except (Exception, SystemExit) as error:
                    stop.append(error)

        try:
            players = min(self.engine.concurrency, len(work))
            await asyncio.gather(*map(play_in_turn, range(players)))
        except asyncio.CancelledError:  # a person stops the run
            self._leave(lost)
            raise
        if stop:
            self._leave(lost)
            raise stop[0]
        # An exclusion becomes part of the run only when the run goes on with it: after a pause
        # the lost conversations are played again.
        for key, (unit, played) in lost.items():
            self._keep(key, unit, played)
        return self.summary

    def ended(self, work: Iterable[Work]) -> Iterator[Played]:
        """Yield the conversations that are in the journal, one at a time, in the order of work."""
        for unit in work:
            record = self.journal.get(unit.key(self.identity))
            if record is not None:
                yield Played.from_json(record)

    async def _play(self, work: Work, lost: dict[str, tuple[Work, Played]]) -> None:
        self.budget.take(1)
        key = work.key(self.identity)
        record = self.journal.get(key)
        if record is not None:
            self._replay(work, Played.from_json(record))
            await asyncio.sleep(0)  # a long replay, too, lets others have their turn
            return
        self.budget.require_room(
            self.summary.usage, self.summary.conversations, self._in_flight + 1
        )
        self._in_flight += 1
        try:
            self.observer.started(work)
            played = await self._attempts.play(work, key)
        finally:
            self._in_flight -= 1
        if played.excluded_for is None:
            self._keep(key, work, played)
        else:
            lost[key] = (work, played)

    def _keep(self, key: str, work: Work, played: Played) -> None:
        self.journal.put(key, played.to_json())
        self.summary.count(played, replayed=False)
        self.observer.ended(work, played, replayed=False)

    def _leave(self, lost: Mapping[str, tuple[Work, Played]]) -> None:
        """Note what the lost conversations of a run that stops have cost."""
        for _, played in lost.values():
            self._account.spend_in_vain(played.spending)

    def _replay(self, work: Work, played: Played) -> None:
        self._account.count_earlier(played.spending)
        self.summary.count(played, replayed=True)
        self.observer.ended(work, played, replayed=True)

    def _check_faults(self, lost: dict[str, tuple[Work, Played]], total: int) -> None:
        """Pause when too many are lost."""
        faults = [fault for _, played in lost.values() if (fault := played.excluded_for)]
        counts = self.summary.excluded + Counter((fault.origin, fault.kind) for fault in faults)
        if faults and counts.total() > allowed_faults(self.fault_threshold, total):
            raise _paused(counts, faults[-1], total)


def _paused(lost: FaultCounts, last: Fault, total: int) -> PausedError:
    kinds = ", ".join(f"{count} {origin} ({kind})" for (origin, kind), count in lost.most_common())
    were = "was" if lost.total() == 1 else "were"
    return PausedError(
        f"The run paused: {lost.total()} of {counted(total, 'conversation')} {were} lost to faults "
        f"that are not the assistant's: {kinds}. The last one: {last.message}. Nothing was scored "
        "and nothing is lost. Mend the cause and run the same command again; it goes on from here."
    )
