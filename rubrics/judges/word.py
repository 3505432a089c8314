"""A judge that is a language model of which one word is asked, with its probability.

For small models: nothing has to be written, only a word weighed, and on the embedded 1.5B model
the margin between the two words tells far more than the word. What it cannot give is a reason, a
quote or an agent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import dspy
from dspy.lm15 import Config, Request, Response, TokenLogprob

from ...agents.answer_form import BareWord
from ...agents.compact_adapter import build_request
from ...agents.errors import UsageError
from ...agents.lm import LanguageModel
from ...agents.prompts import PromptBundle
from ..criterion import Criterion
from ..judge import Question, judged_questions
from ..rubric import Rubric
from ..subject import ConversationRecord
from ..verdict import Status, Verdict
from ..verdicts import Verdicts
from .answer import NOT_APPLICABLE, Opinion, words_of
from .asking import all_of, asked_as_judge, code_of_judges, require_prompts, signed
from .inquiry import Inquiry, Strategy, inquiries
from .rendering import Detail, render

_ALTERNATIVES = 20  # what providers give at most
_MOST_TOKENS = 8
_ALWAYS = "Always."


class OneWord(dspy.Signature):
    """Instructed by a prompt of the judge."""

    conversation: str = dspy.InputField()
    about: str = dspy.InputField()
    criteria: str = dspy.InputField()
    value: Literal["PASS", "FAIL", "NOT_APPLICABLE"] = dspy.OutputField()


@dataclass(frozen=True, slots=True)
class WordJudge:
    """A judge whose every question is one word of a model that gives probabilities.

    Attributes:
        lm: The model, in the role `JUDGE`.
        prompts: What it is told, by criterion: `judge_prompts(rubric, Strategy.CRITERION, "word")`.
        conversation_tokens: What a conversation may take, estimated at four characters a token.
        detail: What of a conversation is shown; by default what was said alone.
    """

    lm: LanguageModel
    prompts: PromptBundle
    conversation_tokens: int = 2000
    detail: Detail = Detail.SPOKEN

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, what it is told, and the code that asks."""
        return {
            "judge": "word",
            "model": self.lm.identity(),
            "prompts": self.prompts.fingerprint,
            "conversation_tokens": self.conversation_tokens,
            "detail": self.detail,
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
            UsageError: A prompt is missing, a criterion has tiers, or the model gives no
                probabilities.
        """
        opinions = await self.opinions(subject, rubric, questions)
        return signed(opinions, self.lm, self.prompts, rubric)

    async def opinions(
        self,
        subject: ConversationRecord,
        rubric: Rubric,
        questions: Sequence[Question] | None = None,
    ) -> list[Opinion]:
        """Return the verdicts with their probabilities; see `judge`."""
        asked = judged_questions(rubric, subject) if questions is None else questions
        for question in asked:
            _require_two_values(question.criterion)
        calls = inquiries(asked, rubric, Strategy.CRITERION)
        require_prompts(self.prompts, (inquiry.prompt for inquiry in calls), rubric)
        return await all_of(self._ask(subject, inquiry) for inquiry in calls)

    async def _ask(self, subject: ConversationRecord, inquiry: Inquiry) -> Opinion:
        (criterion,) = inquiry.criteria
        always = criterion.applies == _ALWAYS
        words = words_of(criterion) if always else (*words_of(criterion), NOT_APPLICABLE)
        with asked_as_judge(inquiry.prompt):
            request = self._request(subject, inquiry, words)
            response = cast(Response, await self.lm.acall(request))
        if not response.logprobs:
            raise UsageError(
                f"Model '{self.lm.settings.model}' gives no probabilities of its words, and the "
                "judge 'word' lives on them. Take the judge 'llm', or another model."
            )
        return _opinion(criterion, inquiry.turn, word_shares(response.logprobs[0], words))

    def _request(
        self, subject: ConversationRecord, inquiry: Inquiry, words: tuple[str, ...]
    ) -> Request:
        limit = self.conversation_tokens
        rendering = render(subject.trajectory, limit, inquiry.focus, self.detail)
        told = OneWord.with_instructions(self.prompts[inquiry.prompt].render())
        form = BareWord("value", words)
        request = build_request(self.lm.model, {}, told, [], inquiry.inputs(rendering), form)
        held = form.constraint() if self.lm.settings.is_local else {}  # others take no grammar
        config = Config(max_tokens=_MOST_TOKENS, logprobs=_ALTERNATIVES, **held)
        return replace(request, config=config)


def word_shares(token: TokenLogprob, words: Sequence[str]) -> dict[str, float]:
    """Return each word's share of the probability that the words have together.

    A token counts for the word that it begins, whatever its case and spaces.

    Args:
        token: The first of the answer, with its alternatives.
        words: No two begin with the same letter.

    Returns:
        Shares in [0, 1] that sum to 1; empty when no word is among the alternatives.
    """
    weights = dict.fromkeys(words, 0.0)
    for each in token.top or (token,):
        said = each.token.strip().upper()
        for word in words:
            if said and word.startswith(said):
                weights[word] += math.exp(each.logprob)
    total = math.fsum(weights.values())
    return {word: weight / total for word, weight in weights.items()} if total else {}


def _opinion(criterion: Criterion, turn: int | None, shares: Mapping[str, float]) -> Opinion:
    if not shares:
        said = "The judge's answer begins with none of the words."
        return Opinion(Verdict(criterion.id, None, Status.INCONCLUSIVE, said, turn=turn), 0.0)
    not_applicable = shares.get(NOT_APPLICABLE, 0.0)
    if not_applicable > 0.5:
        said = f"It does not apply, with probability {not_applicable:.2f}."
        verdict = Verdict(criterion.id, None, Status.NOT_APPLICABLE, said, turn=turn)
        return Opinion(verdict, not_applicable)
    best, worst = words_of(criterion)
    passes = shares[best] / (shares[best] + shares[worst])
    said = f"It passes with probability {passes:.2f}."
    agent = criterion.agents[0] if len(criterion.agents) == 1 else None
    value = float(passes >= 0.5)
    verdict = Verdict(criterion.id, value, Status.SCORED, said, agent=agent, turn=turn)
    return Opinion(verdict, max(passes, 1.0 - passes), passes)


def _require_two_values(criterion: Criterion) -> None:
    if not isinstance(criterion.scale, str):
        raise UsageError(
            f"The judge 'word' knows pass and fail only, and the criterion '{criterion.id}' has "
            "tiers. Take the judge 'llm' for this rubric."
        )
