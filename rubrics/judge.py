"""Judges: who decides what checks leave open, and the questions they are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .criterion import Criterion
from .rubric import Rubric
from .subject import ConversationRecord
from .verdicts import Verdicts


@dataclass(frozen=True, slots=True)
class Question:
    """One criterion of one conversation, or of one turn of it.

    Attributes:
        criterion: The criterion.
        turn: The turn (from 0), exactly when the criterion is scored turn by turn.
    """

    criterion: Criterion
    turn: int | None = None


class Judge(Protocol):
    """Decides criteria by reading conversations."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What determines its verdicts, JSON; part of every journal key."""
        ...

    async def judge(
        self,
        subject: ConversationRecord,
        rubric: Rubric,
        questions: Sequence[Question] | None = None,
    ) -> Verdicts:
        """Decide questions about a conversation.

        Args:
            subject: The conversation.
            rubric: Whose criteria are asked about.
            questions: What to decide; everything that the rubric leaves to a judge when None.

        Returns:
            One verdict per question, in their order. A question that it could not answer is
            inconclusive: never a zero and never a pass.

        Raises:
            FaultError: No answer came at all; attributed to the provider, or to the judge when
                its model cannot read what it is sent.
        """
        ...


def judged_questions(rubric: Rubric, subject: ConversationRecord) -> tuple[Question, ...]:
    """Return all that a judge can decide about a conversation, in the rubric's order."""
    return tuple(
        question
        for criterion in rubric.criteria
        if criterion.judged
        for question in questions_about(criterion, subject)
    )


def questions_about(criterion: Criterion, subject: ConversationRecord) -> tuple[Question, ...]:
    """Return the questions that a criterion asks: one, or one for each turn."""
    if not criterion.per_turn:
        return (Question(criterion),)
    return tuple(Question(criterion, turn) for turn in range(len(subject.trajectory.turns)))
