"""The model that judges, and how it is asked, as the command line says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..agents.lm import LanguageModel
from ..agents.models import ModelSettings
from ..rubrics.judge import Judge
from ..rubrics.judges.inquiry import Strategy, judge_prompts
from ..rubrics.judges.llm import JudgeSettings, LlmJudge
from ..rubrics.judges.word import WordJudge
from ..rubrics.rubric import Rubric


class Asking(StrEnum):
    """How a judge is asked: what in one call; or `WORD`, for one word of each criterion."""

    RUBRIC = "rubric"
    DOMAIN = "domain"
    CRITERION = "criterion"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """A judge to be.

    Attributes:
        settings: The model and how it is called.
        asking: How it is asked.
        repeats: How often each question is asked; not with `WORD`.
        conversation_tokens: What a conversation may take; longer ones are shortened.
    """

    settings: ModelSettings
    asking: Asking = Asking.DOMAIN
    repeats: int = 1
    conversation_tokens: int = 8000

    def judge(self, lm: LanguageModel, rubric: Rubric) -> Judge:
        """Return the judge, on the model that was opened for it."""
        if self.asking is Asking.WORD:
            prompts = judge_prompts(rubric, Strategy.CRITERION, "word")
            return WordJudge(lm, prompts, self.conversation_tokens)
        strategy = Strategy(self.asking.value)
        settings = JudgeSettings(
            strategy=strategy,
            repeats=self.repeats,
            conversation_tokens=self.conversation_tokens,
        )
        return LlmJudge(lm, judge_prompts(rubric, strategy), settings)
