"""Contenders: the judges that are held against the same labels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ..agents.lm import LanguageModel
from ..agents.models import ModelSettings
from ..optimizer.judge_parts import part_of
from ..rubrics.annotation import OVERALL
from ..rubrics.calibrated_judge import CalibratedJudge, ascending, two_valued_rubric
from ..rubrics.decision_calibration import Decision
from ..rubrics.judge import Judge
from ..rubrics.judges.inquiry import Strategy
from ..rubrics.rubric import Rubric
from .carded_judge import CardedJudge
from .judge_model import Asking, JudgeModel, JudgeSource


@dataclass(frozen=True, slots=True)
class Contender:
    """A judge that is to be asked.

    Attributes:
        name: What it is called in tables, and its files by.
        source: The judge.
        asking: How it is asked.
    """

    name: str
    source: JudgeSource
    asking: Asking

    @classmethod
    def of_model(cls, name: str, model: JudgeModel) -> Contender:
        """Return an untested model; one of single words can be asked about tiers, too."""
        source = _EvenWords(model) if model.asking is Asking.WORD else model
        return cls(f"{name}@{model.asking}", source, model.asking)

    @classmethod
    def of_card(cls, card: Path) -> Contender:
        """Return the judge of a card.

        Raises:
            UsageError: The card cannot be used.
        """
        carded = CardedJudge.load(card)
        return cls(str(card), carded, Asking(carded.card.asked.strategy))

    def by(self, rubric: Rubric) -> JudgeSource:
        """Return the judge as it is by a whole rubric, whatever part of it is asked about."""
        return _ByWhole(self.source, rubric)


def asked_part(rubric: Rubric, criteria: Collection[str], asking: Asking) -> Rubric:
    """Return what a judge must be asked to know some criteria: its prompts stay whole.

    Whether a conversation passes as a whole takes all of the rubric.
    """
    if OVERALL in criteria:
        return rubric
    strategy = Strategy.CRITERION if asking is Asking.WORD else Strategy(asking.value)
    needed = {strategy.prompt_name(rubric, rubric.criterion(name)) for name in criteria}
    asked = [
        each
        for each in rubric.criteria
        if each.judged and strategy.prompt_name(rubric, each) in needed
    ]
    return part_of(rubric, asked)


@dataclass(frozen=True, slots=True)
class _ByWhole:
    """A `JudgeSource` whose judge is that of a whole rubric; see `Contender.by`."""

    source: JudgeSource
    rubric: Rubric

    @property
    def settings(self) -> ModelSettings:
        """The model and how it is called."""
        return self.source.settings

    def judge(self, lm: LanguageModel, rubric: Rubric) -> Judge:
        """Return the judge, whatever part of the rubric it is asked about."""
        return self.source.judge(lm, self.rubric)


@dataclass(frozen=True, slots=True)
class _EvenWords:
    """A `JudgeSource`: a judge of one word that decides tiers by steps of the same size."""

    model: JudgeModel

    @property
    def settings(self) -> ModelSettings:
        """The model and how it is called."""
        return self.model.settings

    def judge(self, lm: LanguageModel, rubric: Rubric) -> Judge:
        """Return the judge."""
        asked = self.model.judge(lm, two_valued_rubric(rubric))
        tiers = [each for each in rubric.criteria if not isinstance(each.scale, str)]
        return CalibratedJudge(asked, {each.id: Decision.even(ascending(each)) for each in tiers})
