"""What judges that are models have in common: what they are made of, and how they are called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel

from ...agents.lm import LanguageModel
from ...agents.prompts import PromptBundle
from ..criterion import Criterion
from ..judge import Question, judged_questions
from ..rubric import Rubric
from ..subject import ConversationRecord
from ..verdict import Status
from ..verdicts import Verdicts
from .answer import Opinion
from .asking import code_of_judges, signed

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ModelJudge(ABC, Generic[S]):
    """A judge that asks a model.

    Attributes:
        lm: The model, in the role `JUDGE`.
        prompts: What it is told; see `judge_prompts`.
        settings: How it is asked.
    """

    kind: ClassVar[str]

    lm: LanguageModel
    prompts: PromptBundle
    settings: S

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, what it is told, how it is asked, and the code that asks and reads."""
        return {
            "judge": self.kind,
            "model": self.lm.identity(),
            "prompts": self.prompts.fingerprint,
            "settings": self.settings.model_dump(mode="json"),
            "code": code_of_judges(),
        }

    async def judge(
        self,
        subject: ConversationRecord,
        rubric: Rubric,
        questions: Sequence[Question] | None = None,
    ) -> Verdicts:
        """Decide questions about a conversation; see `Judge.judge`.

        Raises:
            FaultError: No answer came at all.
            UsageError: A prompt is missing, or this judge cannot answer such questions.
        """
        asked = judged_questions(rubric, subject) if questions is None else questions
        opinions = await self.opinions(subject, rubric, asked)
        return signed(opinions, self.lm, self.prompts, rubric)

    @abstractmethod
    async def opinions(
        self, subject: ConversationRecord, rubric: Rubric, questions: Sequence[Question]
    ) -> Sequence[Opinion]:
        """Return the verdicts, one per question, with confidence and probabilities; see `judge`."""

    @abstractmethod
    def shown(self, subject: ConversationRecord, rubric: Rubric, question: Question) -> str:
        """Return what the model reads, beside its prompt, when it is asked this question alone."""

    @abstractmethod
    def written(self, criterion: Criterion, decided: float | Status) -> str:
        """Return the answer, JSON, by which the model decides so; empty where it has to reason."""

    @abstractmethod
    def again(self, repeat: int) -> Self:
        """Return the judge as it is asked for the repeat-th time, from 0."""
