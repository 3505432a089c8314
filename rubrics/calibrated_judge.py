"""A judge that decides by its card: tuned prompts, thresholds and scaled probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..agents.fingerprint import fingerprint
from .criterion import Criterion
from .decision_calibration import Decision
from .judge import Question, judged_questions
from .judges.model_judge import ModelJudge
from .judges.word import WordJudge
from .rubric import Rubric
from .subject import ConversationRecord
from .verdicts import Verdicts


@dataclass(frozen=True, slots=True)
class CalibratedJudge:
    """A `Judge` that decides anew what another judge gives a probability of.

    Attributes:
        asked: The judge that is asked.
        decisions: By criterion; the others stay as the judge decides them.
    """

    asked: ModelJudge[Any]
    decisions: Mapping[str, Decision]

    @property
    def identity(self) -> Mapping[str, Any]:
        """The judge that is asked, and how is decided."""
        return {**self.asked.identity, "decisions": decisions_fingerprint(self.decisions)}

    async def judge(
        self,
        subject: ConversationRecord,
        rubric: Rubric,
        questions: Sequence[Question] | None = None,
    ) -> Verdicts:
        """Decide questions about a conversation; see `Judge.judge`."""
        asked = judged_questions(rubric, subject) if questions is None else questions
        twins = [replace(each, criterion=self._asked_as(each.criterion)) for each in asked]
        said = await self.asked.judge(subject, rubric, twins)
        verdicts = [
            self.decisions[question.criterion.id].decide(verdict, ascending(question.criterion))
            if question.criterion.id in self.decisions
            else verdict
            for question, verdict in zip(asked, said.verdicts, strict=True)
        ]
        return Verdicts(tuple(verdicts), said.by)

    def _asked_as(self, criterion: Criterion) -> Criterion:
        """Return what the judge is asked: of tiers a judge of one word knows the ends only."""
        wanted = isinstance(self.asked, WordJudge) and criterion.id in self.decisions
        return two_valued(criterion) if wanted else criterion


def ascending(criterion: Criterion) -> tuple[float, ...]:
    """Return the values of a criterion's scale, the worst first."""
    return tuple(sorted(criterion.values))


def two_valued(criterion: Criterion) -> Criterion:
    """Return a criterion with pass and fail in place of tiers: the best and the worst of them."""
    if isinstance(criterion.scale, str):
        return criterion
    best, worst = criterion.scale[0].text, criterion.scale[-1].text
    changes = {"scale": "pass_fail", "passes": best, "fails": worst, "pass_at": None}
    return criterion.model_copy(update=changes)


def two_valued_rubric(rubric: Rubric) -> Rubric:
    """Return a rubric of which a judge of one word can be asked everything; see `two_valued`."""
    criteria = tuple(map(two_valued, rubric.criteria))
    return Rubric.model_validate(rubric.model_copy(update={"criteria": criteria}).model_dump())


def decisions_fingerprint(decisions: Mapping[str, Decision]) -> str:
    """Return a short hash of all thresholds and scalings."""
    return fingerprint(
        {name: decision.model_dump(mode="json") for name, decision in decisions.items()}
    )
