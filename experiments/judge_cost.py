"""What a judge's verdict costs: calls, tokens, money and time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..agents.ledger import Ledger, LedgerEntry, Role, Usage
from ..rubrics.ruling import Ruling
from ..simulation.journal import Journal

_NOTE = "seconds_of_calls"
_SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class VerdictCost:
    """What a verdict costs, on average.

    Attributes:
        verdicts: Of how many.
        calls: Model calls per verdict.
        tokens: Input and output tokens per verdict.
        usd: US dollars per verdict; None where no price is known.
        seconds: Seconds of waiting for the model per verdict, one call after another; None where
            nobody measured it.
    """

    verdicts: int
    calls: float
    tokens: float
    usd: float | None
    seconds: float | None

    @classmethod
    def of(cls, usage: Usage, verdicts: int, seconds_per_call: float | None) -> VerdictCost:
        """Share out what was used."""
        n = max(1, verdicts)
        calls = usage.calls / n
        return cls(
            verdicts=verdicts,
            calls=calls,
            tokens=usage.tokens / n,
            usd=None if usage.unpriced else usage.cost / n,
            seconds=None if seconds_per_call is None else seconds_per_call * calls,
        )

    @classmethod
    def beside(cls, verdicts: Path, count: int) -> VerdictCost | None:
        """Return what `cotune judge` says of a verdicts file's cost; None where it says nothing."""
        path = verdicts.with_name(f"{verdicts.stem}.judging") / _SUMMARY
        try:
            used = json.loads(path.read_text(encoding="utf-8"))["usage"][Role.JUDGE]
            return cls.of(Usage(**used), count, None)
        except (OSError, ValueError, KeyError, TypeError):  # not there, or of somebody else
            return None


class TimedLedger(Ledger):
    """A ledger that knows how long calls took, over all invocations of the same command."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = 0
        self._seconds = 0.0

    def record(self, entry: LedgerEntry) -> None:
        """Add one call."""
        super().record(entry)
        self._calls += entry.usage.calls
        self._seconds += entry.seconds

    def seconds_per_call(self, journal: Journal) -> float | None:
        """Add this invocation's calls to the journal's, and return what one took; None if none."""
        kept = json.loads(journal.note(_NOTE) or "[0, 0.0]")
        calls, seconds = kept[0] + self._calls, kept[1] + self._seconds
        self._calls, self._seconds = 0, 0.0
        journal.write_note(_NOTE, json.dumps([calls, seconds]))
        return seconds / calls if calls else None


def verdicts_by_model(rulings: Iterable[Ruling]) -> int:
    """Count the verdicts on conversations about which a model was asked."""
    return sum(len(each.verdicts) for each in rulings if "model" in each.by)
