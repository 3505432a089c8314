"""A judge that is a language model of which one word is asked, with its probability.

For small models: nothing has to be written, only a word weighed, and on the embedded 1.5B model
the margin between the two words tells far more than the word. What it cannot give is a reason, a
quote or an agent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self, cast

import dspy
from dspy.lm15 import Config, Request, Response, TokenLogprob
from pydantic import BaseModel, ConfigDict, Field

from ...agents.answer_form import BareWord
from ...agents.compact_adapter import build_request, render_inputs, render_json
from ...agents.errors import UsageError
from ..criterion import Criterion
from ..judge import Question
from ..rubric import Rubric
from ..subject import ConversationRecord
from ..verdict import Status, Verdict
from .answer import NOT_APPLICABLE, Opinion, words_of
from .asking import all_of, asked_as_judge, require_prompts
from .inquiry import Inquiry, Strategy, as_list, inquiries, scale_of
from .model_judge import ModelJudge
from .rendering import Detail, render

_ALTERNATIVES = 20  # what providers give at most
_MOST_TOKENS = 8
_ALWAYS = "Always."
_EVEN = 0.5
_Threshold = Annotated[float, Field(gt=0.0, lt=1.0)]


class OneWord(dspy.Signature):
    """Instructed by a prompt of the judge."""

    conversation: str = dspy.InputField()
    about: str = dspy.InputField()
    criteria: str = dspy.InputField()
    value: Literal["PASS", "FAIL", "NOT_APPLICABLE"] = dspy.OutputField()


class WordSettings(BaseModel):
    """How the judge of one word is asked, and what it makes of the probabilities.

    Attributes:
        conversation_tokens: What a conversation may take, estimated at four characters a token.
        detail: What of a conversation is shown; by default what was said alone.
        thresholds: By criterion, the probability from which on it passes; 0.5 for the others. A
            small model leans to one word or the other, and where it leans depends on the text.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    conversation_tokens: int = Field(default=2000, ge=100)
    detail: Detail = Detail.SPOKEN
    thresholds: dict[str, _Threshold] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WordJudge(ModelJudge[WordSettings]):
    """A judge whose every question is one word of a model that gives probabilities.

    It is told by criterion: `judge_prompts(rubric, Strategy.CRITERION, "word")`. It takes no
    criteria with tiers, and no models without probabilities.
    """

    kind = "word"

    async def opinions(
        self, subject: ConversationRecord, rubric: Rubric, questions: Sequence[Question]
    ) -> list[Opinion]:
        """Return the verdicts with their probabilities; see `judge`."""
        for question in questions:
            _require_two_values(question.criterion)
        calls = inquiries(questions, rubric, Strategy.CRITERION)
        require_prompts(self.prompts, (inquiry.prompt for inquiry in calls), rubric)
        return await all_of(self._ask(subject, inquiry) for inquiry in calls)

    def shown(self, subject: ConversationRecord, rubric: Rubric, question: Question) -> str:
        """Return what the model reads of a question."""
        (inquiry,) = inquiries([question], rubric, Strategy.CRITERION)
        return render_inputs(OneWord, self._inputs(subject, inquiry))

    def written(self, criterion: Criterion, decided: float | Status) -> str:
        """Return the word."""
        words = dict(zip(criterion.values, words_of(criterion), strict=True))
        word = NOT_APPLICABLE if isinstance(decided, Status) else words[decided]
        return render_json({"value": word})

    def again(self, repeat: int) -> Self:
        """Return the same: a probability is one."""
        return self

    async def _ask(self, subject: ConversationRecord, inquiry: Inquiry) -> Opinion:
        (criterion,) = inquiry.criteria
        words = words_of(criterion)
        if not _always_applies(criterion):
            words = (*words, NOT_APPLICABLE)
        with asked_as_judge(inquiry.prompt):
            request = self._request(subject, inquiry, words)
            response = cast(Response, await self.lm.acall(request))
        if not response.logprobs:
            raise UsageError(
                f"Model '{self.lm.settings.model}' gives no probabilities of its words, and the "
                "judge 'word' lives on them. Take the judge 'llm', or another model."
            )
        threshold = self.settings.thresholds.get(criterion.id, _EVEN)
        shares = word_shares(response.logprobs[0], words)
        return _opinion(criterion, inquiry.turn, shares, threshold)

    def _request(
        self, subject: ConversationRecord, inquiry: Inquiry, words: tuple[str, ...]
    ) -> Request:
        told = OneWord.with_instructions(self.prompts[inquiry.prompt].render())
        form = BareWord("value", words)
        inputs = self._inputs(subject, inquiry)
        request = build_request(self.lm.model, {}, told, [], inputs, form)
        held = form.constraint() if self.lm.settings.is_local else {}  # others take no grammar
        config = Config(max_tokens=_MOST_TOKENS, logprobs=_ALTERNATIVES, **held)
        return replace(request, config=config)

    def _inputs(self, subject: ConversationRecord, inquiry: Inquiry) -> dict[str, str]:
        limit, detail = self.settings.conversation_tokens, self.settings.detail
        rendering = render(subject.trajectory, limit, inquiry.focus, detail)
        return {**inquiry.inputs(rendering), "criteria": f"\n{_described(*inquiry.criteria)}"}


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
            if said and word.startswith(said) and math.isfinite(each.logprob):
                weights[word] += math.exp(min(each.logprob, 0.0))
    total = math.fsum(weights.values())
    return {word: weight / total for word, weight in weights.items()} if total else {}


def _described(criterion: Criterion) -> str:
    """Return what is needed to choose a word; to a small model, anything else is in the way."""
    applies = [] if _always_applies(criterion) else [("applies", criterion.applies)]
    return as_list(criterion, [*applies, *scale_of(criterion)])


def _always_applies(criterion: Criterion) -> bool:
    return criterion.applies == _ALWAYS


def _opinion(
    criterion: Criterion, turn: int | None, shares: Mapping[str, float], threshold: float
) -> Opinion:
    if not shares:
        said = "The judge's answer begins with none of the words."
        return Opinion(Verdict(criterion.id, None, Status.INCONCLUSIVE, said, turn=turn), 0.0)
    not_applicable = shares.get(NOT_APPLICABLE, 0.0)
    if not_applicable > _EVEN:
        said = f"It does not apply, with probability {not_applicable:.2f}."
        verdict = Verdict(criterion.id, None, Status.NOT_APPLICABLE, said, turn=turn)
        return Opinion(verdict, not_applicable)
    best, worst = words_of(criterion)
    passes = shares[best] / (shares[best] + shares[worst])
    said = f"It passes with probability {passes:.2f}, at least {threshold:g} is a pass."
    agent = criterion.agents[0] if len(criterion.agents) == 1 else None
    value = float(passes >= threshold)
    verdict = Verdict(criterion.id, value, Status.SCORED, said, agent=agent, turn=turn)
    weighed = _weighed(passes, threshold)
    return Opinion(verdict, max(weighed, 1.0 - weighed), passes)


def _weighed(probability: float, threshold: float) -> float:
    """Shift a probability, in its odds, so that the threshold comes to lie at one half."""
    passes, fails = probability * (1.0 - threshold), (1.0 - probability) * threshold
    return passes / (passes + fails)


def _require_two_values(criterion: Criterion) -> None:
    if not isinstance(criterion.scale, str):
        raise UsageError(
            f"The judge 'word' knows pass and fail only, and the criterion '{criterion.id}' has "
            "tiers. Take the judge 'llm' for this rubric."
        )
