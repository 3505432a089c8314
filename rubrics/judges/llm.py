"""A judge that is a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import dspy
from dspy.lm15 import Message, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ...agents.compact_adapter import answer_text, build_request, render_inputs
from ...agents.fingerprint import fingerprint
from ...agents.reask import with_reminder
from ..criterion import Criterion
from ..judge import Question
from ..rubric import Rubric
from ..subject import ConversationRecord
from ..verdict import Status, Verdict
from .answer import AnswerSheet, Opinion, Reading
from .asking import all_of, asked_as_judge, require_prompts
from .inquiry import Inquiry, Strategy, inquiries
from .lines import plain
from .majority import majority
from .model_judge import ModelJudge
from .rendering import Detail, render

_ASKED = 2


class Judgement(dspy.Signature):
    """Instructed by a prompt of the judge; the form of the answer comes from the criteria."""

    conversation: str = dspy.InputField()
    about: str = dspy.InputField()
    criteria: str = dspy.InputField()
    verdicts: dict[str, Any] = dspy.OutputField()


class JudgeSettings(BaseModel):
    """How a judge is asked.

    Attributes:
        strategy: What is asked in one call.
        repeats: How often each question is asked, each time with another seed; the majority counts.
        conversation_tokens: What a conversation may take, estimated at four characters a token;
            longer ones are shortened, and say where.
        detail: What of a conversation is shown.
        tokens_per_criterion: What an answer may take for each criterion asked about.
        seed: From which, with what is asked, the seed of every call is derived.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: Strategy = Strategy.DOMAIN
    repeats: int = Field(default=1, ge=1, le=99)
    conversation_tokens: int = Field(default=8000, ge=100)
    detail: Detail = Detail.ALL
    tokens_per_criterion: int = Field(default=300, ge=50)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class LlmJudge(ModelJudge[JudgeSettings]):
    """A judge whose every inquiry is a call of a model, which writes its reasons."""

    kind = "llm"

    async def opinions(
        self, subject: ConversationRecord, rubric: Rubric, questions: Sequence[Question]
    ) -> tuple[Opinion, ...]:
        """Return the verdicts with their confidence; see `judge`."""
        calls = [
            (inquiry, repeat)
            for inquiry in inquiries(questions, rubric, self.settings.strategy)
            for repeat in range(self.settings.repeats)
        ]
        require_prompts(self.prompts, (inquiry.prompt for inquiry, _ in calls), rubric)
        answers = await all_of(self._ask(subject, *call) for call in calls)
        said: dict[tuple[str, int | None], list[Opinion]] = {}
        for (inquiry, _), answer in zip(calls, answers, strict=True):
            for criterion_id, opinion in answer.items():
                said.setdefault((criterion_id, inquiry.turn), []).append(opinion)
        return tuple(
            majority(each.criterion, each.turn, said[each.criterion.id, each.turn])
            for each in questions
        )

    def shown(self, subject: ConversationRecord, rubric: Rubric, question: Question) -> str:
        """Return what the model reads of a question."""
        (inquiry,) = inquiries([question], rubric, self.settings.strategy)
        limit, detail = self.settings.conversation_tokens, self.settings.detail
        rendering = render(subject.trajectory, limit, inquiry.focus, detail)
        return render_inputs(Judgement, inquiry.inputs(rendering))

    def written(self, criterion: Criterion, decided: float | Status) -> str:
        """Return nothing: it has to give reasons and quotes, and people give no such form."""
        return ""

    def again(self, repeat: int) -> Self:
        """Return the judge with other seeds."""
        seed = self.settings.seed + repeat * self.settings.repeats
        return replace(self, settings=self.settings.model_copy(update={"seed": seed}))

    async def _ask(
        self, subject: ConversationRecord, inquiry: Inquiry, repeat: int
    ) -> dict[str, Opinion]:
        """Ask, and ask once more about what could not be used; the rest is inconclusive."""
        reading = await self._once(subject, inquiry, repeat, "")
        opinions = dict(reading.opinions)
        reason = _complaint(reading)
        if reason:
            again = inquiry.only(reading.problems) if reading.problems else inquiry
            reading = await self._once(subject, again, repeat, reason)
            opinions |= reading.opinions
        undecided = {
            name: _inconclusive(name, inquiry.turn, problem)
            for name, problem in reading.problems.items()
            if name not in opinions
        }
        return opinions | undecided

    async def _once(
        self, subject: ConversationRecord, inquiry: Inquiry, repeat: int, reason: str
    ) -> Reading:
        trajectory = subject.trajectory
        limit, detail = self.settings.conversation_tokens, self.settings.detail
        rendering = render(trajectory, limit, inquiry.focus, detail)
        sheet = AnswerSheet(inquiry.criteria, inquiry.turn, len(trajectory.turns), rendering)
        request = self._request(inquiry, sheet, repeat, reason)
        with asked_as_judge(inquiry.prompt):
            response = cast(Response, await self.lm.acall(request))
        if response.finish_reason == "length":
            return sheet.unusable("it reached the token limit")
        return sheet.read(answer_text(response))

    def _request(self, inquiry: Inquiry, sheet: AnswerSheet, repeat: int, reason: str) -> Request:
        told = self.prompts[inquiry.prompt].render()
        inputs = inquiry.inputs(sheet.rendering)
        seed = int(fingerprint([self.settings.seed, told, inputs, repeat, reason], 7), 16)
        request = build_request(
            self.lm.model, {"seed": seed}, Judgement.with_instructions(told), [], inputs
        )
        *examples, last = request.messages
        text = last.text or ""
        asked = with_reminder(text, _ASKED, _ASKED, reason) if reason else text
        form = {**(request.config.response_format or {}), "schema": sheet.schema()}
        config = replace(
            request.config,
            response_format={**form, "name": Judgement.__name__},
            max_tokens=self._answer_limit(len(inquiry.criteria)),
        )
        return replace(request, messages=(*examples, Message.user(asked)), config=config)

    def _answer_limit(self, criteria: int) -> int | None:
        limit = self.lm.settings.max_tokens
        return None if limit is None else max(limit, self.settings.tokens_per_criterion * criteria)


def _complaint(reading: Reading) -> str:
    """Say what is wrong with an answer; empty when nothing is."""
    said = [f"{name}: {problem}" for name, problem in reading.problems.items()]
    if reading.strange:
        said.append(f"nobody asked for: {reading.strange}")
    return plain("; ".join(said))


def _inconclusive(criterion_id: str, turn: int | None, problem: str) -> Opinion:
    rationale = f"The judge was asked {_ASKED} times and gave no usable answer: {problem}."
    verdict = Verdict(criterion_id, None, Status.INCONCLUSIVE, rationale, turn=turn)
    return Opinion(verdict, confidence=0.0)
