"""The model that judges, and how it is asked, as the command line says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from ..agents.lm import LanguageModel
from ..agents.models import ModelSettings
from ..rubrics.judge import Judge
from ..rubrics.judges.inquiry import Strategy, judge_prompts
from ..rubrics.judges.llm import JudgeSettings, LlmJudge
from ..rubrics.judges.model_judge import ModelJudge
from ..rubrics.judges.rendering import Detail
from ..rubrics.judges.word import WordJudge, WordSettings
from ..rubrics.rubric import Rubric
from .task_config import JudgeConfig


class Asking(StrEnum):
    """How a judge is asked: what in one call; or `WORD`, for one word of each criterion."""

    RUBRIC = "rubric"
    DOMAIN = "domain"
    CRITERION = "criterion"
    WORD = "word"


class JudgeSource(Protocol):
    """Where a judge comes from: an untested model, or a card."""

    @property
    def settings(self) -> ModelSettings:
        """The model and how it is called."""
        ...

    def judge(self, lm: LanguageModel, rubric: Rubric) -> Judge:
        """Return the judge, on the model that was opened for it.

        Raises:
            UsageError: It cannot judge by this rubric.
        """
        ...


TIMEOUT = 300.0
"""Seconds for one attempt: a long conversation takes an embedded model minutes to read."""
_TOKENS_FOR_A_WORD = 2000
_TOKENS_FOR_LOCAL = 4000  # their contexts are small, and criteria and answer need room, too
_TOKENS = 8000


def fitting_tokens(settings: ModelSettings, asking: Asking) -> int:
    """Return what a conversation may take when nobody says it."""
    if asking is Asking.WORD:
        return _TOKENS_FOR_A_WORD
    return _TOKENS_FOR_LOCAL if settings.is_local else _TOKENS


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """A judge to be.

    Attributes:
        settings: The model and how it is called.
        asking: How it is asked.
        repeats: How often each question is asked; not with `WORD`.
        conversation_tokens: What a conversation may take; longer ones are shortened.
        detail: What of a conversation is shown; left out, what was said alone with `WORD`, else
            all.
    """

    settings: ModelSettings
    asking: Asking = Asking.DOMAIN
    repeats: int = 1
    conversation_tokens: int = 8000
    detail: Detail | None = None

    @classmethod
    def of(cls, settings: ModelSettings, config: JudgeConfig) -> JudgeModel:
        """Return the judge that a configuration asks for."""
        asking = Asking(config.strategy)
        tokens = config.conversation_tokens or fitting_tokens(settings, asking)
        return cls(settings, asking, config.repeats, tokens)

    def judge(self, lm: LanguageModel, rubric: Rubric) -> ModelJudge[Any]:
        """Return the judge, on the model that was opened for it."""
        tokens = self.conversation_tokens
        if self.asking is Asking.WORD:
            prompts = judge_prompts(rubric, Strategy.CRITERION, "word")
            detail = self.detail or Detail.SPOKEN
            return WordJudge(lm, prompts, WordSettings(conversation_tokens=tokens, detail=detail))
        strategy = Strategy(self.asking.value)
        settings = JudgeSettings(
            strategy=strategy,
            repeats=self.repeats,
            conversation_tokens=tokens,
            detail=self.detail or Detail.ALL,
        )
        return LlmJudge(lm, judge_prompts(rubric, strategy), settings)
