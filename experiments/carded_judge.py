"""A judge by its card: only what was tested is used, and only where it is good enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..agents.errors import UsageError
from ..agents.lm import LanguageModel
from ..agents.models import ModelSettings
from ..rubrics.calibrated_judge import CalibratedJudge, two_valued_rubric
from ..rubrics.judge_card import JudgeCard, differences, fingerprints_of
from ..rubrics.judges.rendering import Detail
from ..rubrics.rubric import Rubric
from .conclusion import number
from .judge_model import Asking, JudgeModel


@dataclass(frozen=True, slots=True)
class CardedJudge:
    """A judge to be, as its card says; see `JudgeSource`.

    Attributes:
        card: The card.
        path: Where it was read.
    """

    card: JudgeCard
    path: Path

    @classmethod
    def load(cls, path: Path) -> CardedJudge:
        """Read a card.

        Raises:
            UsageError: It is none, or was edited.
        """
        return cls(JudgeCard.load(path), path)

    @property
    def settings(self) -> ModelSettings:
        """The model and how it is called."""
        return self.card.model

    def judge(self, lm: LanguageModel, rubric: Rubric) -> CalibratedJudge:
        """Return the judge, on the model that was opened for it.

        Raises:
            UsageError: The judge would not be the one that was tested.
        """
        card, asked = self.card, self.card.asked
        asking = Asking(asked.strategy)
        model = JudgeModel(
            card.model,
            asking,
            asked.repeats,
            asked.conversation_tokens,
            None if asked.detail is None else Detail(asked.detail),
        )
        known = two_valued_rubric(rubric) if asking is Asking.WORD else rubric
        judge = replace(model.judge(lm, known), prompts=card.bundle)
        if found := differences(card, fingerprints_of(rubric, judge.identity, card.decisions)):
            raise UsageError(
                f"{self.path}: the judge is not the one that was tested; different are: "
                f"{'; '.join(found)}. Calibrate again, or use what the card was made with."
            )
        return CalibratedJudge(judge, card.decisions)

    def require(self, kappa: float) -> None:
        """Refuse a judge that does not agree well enough with people.

        Args:
            kappa: Least agreement beyond chance overall, on the test of its card.

        Raises:
            UsageError: It agrees less, or nobody knows.
        """
        reached = self.card.kappa
        if reached is None or reached.value is None:
            raise UsageError(
                f"{self.path}: agreement beyond chance is undefined for this judge, and kappa "
                f"{kappa:g} is required. Calibrate it with labels of both kinds."
            )
        if reached.value < kappa:
            raise UsageError(
                f"{self.path}: the judge reaches kappa {number(reached.value)} (interval "
                f"{number(reached.low)} to {number(reached.high)}), and {kappa:g} is required. "
                "Calibrate it further, take a better model, or lower the bar."
            )
