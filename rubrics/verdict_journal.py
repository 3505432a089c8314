"""The verdict journal: a conversation's verdicts, each asked for and paid for at most once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..agents.budget import Budget
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Ledger, Spending, charged_to
from ..simulation.account import Account
from ..simulation.journal import Journal
from ..simulation.played import spending_from_json, spending_to_json
from ..simulation.trajectory_json import trajectory_to_json
from .evaluate import evaluate
from .judge import Judge
from .judged import judged
from .rubric import Rubric
from .subject import ConversationRecord
from .verdict import Status, Verdict
from .verdict_file import verdict_json
from .verdicts import Verdicts

KIND = "verdicts"


@dataclass(frozen=True)
class Decided:
    """A conversation's verdicts and what they cost.

    Attributes:
        verdicts: The verdicts.
        spending: What they cost, now or in an earlier run.
        replayed: Whether they were in the journal.
    """

    verdicts: Verdicts
    spending: Spending
    replayed: bool


@dataclass(frozen=True)
class VerdictJournal:
    """Decides conversations by a rubric; what is decided is kept under its content.

    Attributes:
        rubric: By what is judged.
        judge: Who decides what checks leave open; nobody when None.
        journal: Where verdicts are kept.
        ledger: Where calls are counted.
        budget: What limits them.
    """

    rubric: Rubric
    judge: Judge | None
    journal: Journal
    ledger: Ledger
    budget: Budget

    def key(self, record: ConversationRecord) -> str:
        """Return the journal key: the content that determines the verdicts."""
        conversation = trajectory_to_json(record.trajectory)
        return Journal.key(KIND, [conversation, record.scenario.fingerprint, self._yardstick])

    def known(self, key: str) -> Verdicts | None:
        """Return the verdicts that are in the journal."""
        kept = self.journal.get(key)
        return None if kept is None else _verdicts(kept)

    async def decide(self, key: str, record: ConversationRecord) -> Decided:
        """Return the verdicts of a conversation that did not break off.

        Args:
            key: Its journal key; see `key`.
            record: The conversation.

        Raises:
            FaultError: The judge could not be asked; nothing is kept, and what it cost is noted.
            CotuneError: The run cannot go on.
        """
        kept = self.journal.get(key)
        if kept is not None:
            spending = spending_from_json(kept["spending"])
            self.account.count_earlier(spending)
            return Decided(_verdicts(kept), spending, replayed=True)
        try:
            with charged_to(key=key):
                verdicts = await self._ask(record)
        except BaseException:  # a person who stops the run has paid, too
            self.account.spend_in_vain(self.ledger.collect_parts(key))
            raise
        spending = self.ledger.collect_parts(key)
        self.journal.put(key, _kept(verdicts, spending))
        return Decided(verdicts, spending, replayed=False)

    @cached_property
    def checked_by(self) -> Mapping[str, str]:
        """Who decides where no model is asked."""
        return {"rubric": self.rubric.fingerprint}

    @cached_property
    def account(self) -> Account:
        """What this judge was paid by this rubric, over all invocations."""
        note = f"judging_in_vain:{fingerprint(self._yardstick)}"
        return Account(self.journal, self.ledger, self.budget, note)

    async def _ask(self, record: ConversationRecord) -> Verdicts:
        if self.judge is None:
            return Verdicts(evaluate(self.rubric, record), self.checked_by)
        return await judged(self.rubric, record, self.judge)

    @cached_property
    def _yardstick(self) -> tuple[str, Mapping[str, Any] | None]:
        """What does not differ between conversations; the rubric's fingerprint reads files."""
        return self.checked_by["rubric"], None if self.judge is None else self.judge.identity


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
