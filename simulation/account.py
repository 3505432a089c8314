"""The account of a run over all its invocations: what earlier ones paid for counts in this one."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..agents.budget import Budget
from ..agents.ledger import Ledger, Spending, Usage
from .journal import Journal
from .played import added, spending_from_json, spending_to_json


@dataclass(frozen=True, slots=True)
class Account:
    """Counts what was paid for before, with a result in the journal or in vain.

    Attributes:
        journal: Where what was paid in vain is noted.
        ledger: Where calls are counted.
        budget: What limits them.
        note: Name of the note about calls paid for without a result to keep.
    """

    journal: Journal
    ledger: Ledger
    budget: Budget
    note: str

    def count_in_vain(self) -> None:
        """Count what earlier invocations paid for without a result; once, at the start."""
        self.count_earlier(self._spent_in_vain())

    def count_earlier(self, spending: Spending) -> None:
        """Count what an earlier invocation of the same command paid for."""
        for (role, agent), usage in spending.items():
            self.ledger.replay(role, agent, usage)
            self.budget.add(usage)

    def spend_in_vain(self, spending: Spending) -> None:
        """Note paid calls of work that is not journaled, so that the budget knows."""
        if sum(spending.values(), Usage()) != Usage():
            total = added(self._spent_in_vain(), spending)
            self.journal.write_note(self.note, json.dumps(spending_to_json(total)))

    def _spent_in_vain(self) -> Spending:
        note = self.journal.note(self.note)
        return {} if note is None else spending_from_json(json.loads(note))
