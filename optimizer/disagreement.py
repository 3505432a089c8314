"""Disagreements: an item's gold beside what the judge said of it, and what it teaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..rubrics.criterion import Criterion
from ..rubrics.gold import GoldLabel, Vote
from ..rubrics.judges.answer import NOT_APPLICABLE, words_of
from ..rubrics.verdict import Status, Verdict
from .rollout import Lesson


@dataclass(frozen=True, slots=True)
class Judged:
    """One item, judged.

    Attributes:
        criterion: The criterion.
        label: What people say.
        verdict: What the judge says.
        weight: What a disagreement costs; see `ClassWeights`.
    """

    criterion: Criterion
    label: GoldLabel
    verdict: Verdict
    weight: float

    @property
    def wrong(self) -> float:
        """How far it disagrees: 0 or 1, or in between where people are split evenly.

        Who says that nothing can be said, where people could, disagrees.
        """
        said = _vote(self.verdict)
        return 1.0 - sum(option == said for option in self.label.options) / len(self.label.options)

    def lesson(self, shown: str, written: str) -> Lesson:
        """Return what the judge can learn from it.

        Args:
            shown: What the judge's model read.
            written: The right answer as the model would write it; empty when it cannot be made.
        """
        return Lesson(
            inputs=shown,
            output=self._said,
            expected=written,
            rule=self._rule,
            feedback=self._feedback if self.wrong else "",
        )

    @property
    def _said(self) -> str:
        quotes = "; ".join(f'"{quote}"' for quote in self.verdict.evidence)
        grounds = f" Evidence: {quotes}." if quotes else ""
        word = _word(self.criterion, _vote(self.verdict))
        return f"{self.criterion.id}: {word}. {self.verdict.rationale}{grounds}"

    @property
    def _feedback(self) -> str:
        right = _word(self.criterion, self.label.options[0])
        agreeing = f"{self.label.certainty:.0%} of {self.label.annotators}"
        because = " ".join(f'One of them: "{reason}"' for reason in self._reasons())
        return (
            f"{self.criterion.id}: people say {right} ({agreeing}), the judge said "
            f"{_word(self.criterion, _vote(self.verdict))}. {because}".strip()
        )

    @property
    def _rule(self) -> str:
        """A precedent: what people decided, and why they say they did."""
        reason = next(self._reasons(), "")
        word = _word(self.criterion, self.label.options[0])
        return f"{self.criterion.id} is {word}: {reason}" if reason else ""

    def _reasons(self) -> Iterator[str]:
        """Yield the reasons of those who decided as the gold does."""
        for one in self.label.said:
            decided = one.status if one.value is None else one.value
            if decided == self.label.options[0] and one.rationale.strip():
                yield " ".join(one.rationale.split())


def _vote(verdict: Verdict) -> Vote:
    return verdict.status if verdict.value is None else verdict.value


def _word(criterion: Criterion, vote: Vote) -> str:
    if vote is Status.NOT_APPLICABLE:
        return NOT_APPLICABLE
    if isinstance(vote, Status):
        return "nothing"
    return dict(zip(criterion.values, words_of(criterion), strict=True)).get(vote, f"{vote:g}")
