"""Drift: a calibrated judge on new labels, beside what its card says.

The two are of different conversations, so the interval of the difference is put together from the
two intervals: by the square root of the sum of squared distances to their bounds (Zou and Donner
2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import hypot
from pathlib import Path
from typing import Any

from ..agents.ledger import Ledger
from ..rubrics.agreement_change import concluded
from ..rubrics.clustered_estimate import Estimate, Resampling
from ..rubrics.comparison import Measure
from ..rubrics.gold import GoldMethod
from ..rubrics.judging import JudgingObserver
from ..rubrics.statistics import Conclusion
from ..simulation.journal import Journal
from .agreement_run import AgreementStudy
from .annotated_file import write_annotated
from .carded_judge import CardedJudge
from .judging_run import JudgingRun

_VERDICTS = "verdicts.jsonl"


@dataclass(frozen=True, slots=True)
class Drift:
    """One criterion on new labels.

    Attributes:
        criterion: Its id.
        card: Kappa on the card.
        now: Kappa on the new labels.
        difference: Now less the card.
        conclusion: What that allows; None where it is undefined.
    """

    criterion: str
    card: Estimate
    now: Estimate
    difference: Estimate
    conclusion: Conclusion | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DriftCheck:
    """New labels, ready to be checked.

    Attributes:
        study: The annotations.
        carded: The judge.
        judging: The run that judges the annotated conversations.
    """

    study: AgreementStudy
    carded: CardedJudge
    judging: JudgingRun

    @classmethod
    def prepare(
        cls,
        annotations: Sequence[Path],
        carded: CardedJudge,
        trajectories: Path,
        rubric: str,
        *,
        scenarios: str | None,
        tokens: int | None,
        usd: float | None,
        out: Path,
    ) -> DriftCheck:
        """Read and check everything.

        Raises:
            UsageError: Something is missing or wrong.
            CotuneError: The folder cannot be written.
        """
        method, resampling = GoldMethod(carded.card.data.gold), Resampling(carded.card.confidence)
        study = AgreementStudy.read(annotations, rubric, method, None, resampling)
        names = {item.conversation for item in study.items}
        judging = JudgingRun.prepare(
            write_annotated(trajectories, names, out),
            rubric,
            scenarios=scenarios,
            model=carded,
            tokens=tokens,
            usd=usd,
            out=out / _VERDICTS,
        )
        return cls(study, carded, judging)

    def execute(
        self, journal: Journal, ledger: Ledger, observer: JudgingObserver
    ) -> tuple[Drift, ...]:
        """Judge the conversations, and hold the judge against the new labels.

        Raises:
            CotuneError: The model cannot be used, the run paused, or the budget does not suffice.
        """
        self.judging.execute(journal, ledger, observer)
        report = self.study.measured(self.judging.out)
        found: list[Drift] = []
        for name, tested in self.carded.card.criteria.items():
            if name in report.judge:
                estimates = report.judge[name].comparison.estimates
                kappa, raw = (
                    apart_from(tested.measures[each].both, estimates[each])
                    for each in (Measure.KAPPA, Measure.RAW)
                )
                card, now = tested.measures[Measure.KAPPA].both, estimates[Measure.KAPPA]
                found.append(Drift(name, card, now, kappa, concluded(kappa, raw)))
        return tuple(found)


def apart_from(before: Estimate, after: Estimate) -> Estimate:
    """Return the difference of two estimates on different conversations, with its interval."""
    n, clusters = before.n + after.n, before.clusters + after.clusters
    if before.value is None or after.value is None:
        return Estimate(None, None, None, n, clusters, "undefined")
    difference = after.value - before.value
    if None in (before.low, before.high, after.low, after.high):
        return Estimate(difference, None, None, n, clusters, "none: one side has no interval")
    assert before.low is not None
    assert before.high is not None
    assert after.low is not None
    assert after.high is not None
    low = difference - hypot(after.value - after.low, before.high - before.value)
    high = difference + hypot(after.high - after.value, before.value - before.low)
    return Estimate(difference, low, high, n, clusters, "from both intervals")


def drifted(found: Iterable[Drift]) -> bool:
    """Say whether agreement has fallen on some criterion, by more than luck."""
    return any(each.conclusion is Conclusion.WORSE for each in found)
