"""The judge task: a judge's prompts, scored by how far its verdicts agree with people's.

An example is an annotated conversation, a candidate the judge's prompts. The form of its answers
is fixed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.errors import FaultError
from ..agents.ledger import Spending
from ..agents.prompts import PromptBundle
from ..rubrics.judge import Question
from ..rubrics.judges.rendering import Detail, render
from ..rubrics.verdict import Status, Verdict
from ..simulation.played import added
from .annotated_conversation import AnnotatedConversation
from .class_weights import ClassWeights
from .disagreement import Judged
from .example import Splits
from .judge_parts import JudgeParts, strategy_of
from .rollout import Lesson, Rollout

_LONGEST = 100_000  # tokens: nothing is cut of what no prompt may copy


@dataclass(frozen=True)
class JudgeTask:
    """Calibrate the prompts of a judge.

    Attributes:
        parts: The judge, prompt by prompt.
        splits: The annotated conversations.
        weights: Of train and val.
    """

    parts: JudgeParts
    splits: Splits[AnnotatedConversation]
    weights: ClassWeights

    name = "judge"

    @property
    def seed(self) -> PromptBundle:
        """The prompts to start from."""
        return self.parts.seed

    @property
    def concurrency(self) -> int:
        """How many conversations are judged at once.

        One by an embedded model: it reads, which is no faster two at a time, and has the prompt in
        mind from the conversation before.
        """
        settings = self.parts.judge.lm.settings
        return 1 if settings.is_local else settings.concurrency

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a rollout beside prompts, conversation and repeat."""
        counts = {
            name: sorted((str(vote), n) for vote, n in found.items())
            for name, found in self.weights.counts.items()
        }
        weights = {"counts": counts, "heaviest": self.weights.heaviest}
        return {"task": "judge", "judge": self.parts.identity(), "weights": weights}

    def texts(self, example: AnnotatedConversation) -> Iterator[str]:
        """Yield the whole conversation; single sentences of assistants are often the same."""
        yield render(example.record.trajectory, _LONGEST, detail=Detail.SPOKEN).body

    async def rollout(
        self, example: AnnotatedConversation, candidate: PromptBundle, repeat: int
    ) -> Rollout:
        """Judge one conversation and hold it against what people say of it."""
        verdicts: list[Verdict] = []
        spending: Spending = {}
        try:
            for name in self._asked(example):
                found, cost = await self.parts.decide(name, example.record, candidate, repeat)
                verdicts += found
                spending = added(spending, cost)
        except FaultError as error:
            return Rollout(example.id, None, spending=spending, fault=error.fault)
        return self._scored(example, tuple(self._judged(example, verdicts)), spending)

    def verdicts(
        self, example: AnnotatedConversation, candidate: PromptBundle
    ) -> tuple[Verdict, ...]:
        """Return what a candidate said in the first repeat, which was played before."""
        return tuple(
            verdict
            for name in self._asked(example)
            for verdict in self.parts.recall(name, example.record, candidate)
        )

    def prompt_of(self, criterion: str) -> str:
        """Return the name of the prompt that decides a criterion."""
        rubric = self.parts.rubric
        return strategy_of(self.parts.judge).prompt_name(rubric, rubric.criterion(criterion))

    def _asked(self, example: AnnotatedConversation) -> list[str]:
        """Return the prompts that decide what people say of a conversation."""
        return list(dict.fromkeys(self.prompt_of(each.item.criterion) for each in example.labels))

    def _judged(
        self, example: AnnotatedConversation, verdicts: Sequence[Verdict]
    ) -> Iterator[Judged]:
        said = {(each.criterion, each.turn): each for each in verdicts}
        whole = {each.criterion: each for each in verdicts}
        for label in example.labels:
            criterion = self.parts.rubric.criterion(label.item.criterion)
            about = (criterion.id, label.item.turn)
            verdict = said.get(about) if criterion.per_turn else whole.get(criterion.id)
            unsaid = Verdict(criterion.id, None, Status.INCONCLUSIVE, "no verdict was given")
            yield Judged(criterion, label, verdict or unsaid, self.weights.of_label(label))

    def _scored(
        self, example: AnnotatedConversation, judged: Sequence[Judged], spending: Spending
    ) -> Rollout:
        lost: defaultdict[str, float] = defaultdict(float)
        blame: defaultdict[str, float] = defaultdict(float)
        for each in judged:
            lost[each.criterion.id] += each.weight * each.wrong
            if each.wrong:
                blame[self.prompt_of(each.criterion.id)] += each.weight * each.wrong
        return Rollout(
            example.id,
            max(0.0, 1.0 - sum(lost.values()) / self.weights.heaviest),
            objectives={
                name: max(0.0, 1.0 - loss / self.weights.heaviest_of.get(name, 1.0))
                for name, loss in lost.items()
            },
            lessons=self._lessons(example, judged),
            blame=dict(blame),
            spending=spending,
        )

    def _lessons(
        self, example: AnnotatedConversation, judged: Sequence[Judged]
    ) -> dict[str, tuple[Lesson, ...]]:
        judge, rubric = self.parts.judge, self.parts.rubric
        lessons: defaultdict[str, list[Lesson]] = defaultdict(list)
        for each in sorted(judged, key=lambda one: -one.weight * one.wrong):
            decided, *others = each.label.options
            if others:
                continue  # people do not know it themselves
            question = Question(each.criterion, each.label.item.turn)
            shown = judge.shown(example.record, rubric, question)
            written = judge.written(each.criterion, decided)
            lessons[self.prompt_of(each.criterion.id)].append(each.lesson(shown, written))
        return {name: tuple(found) for name, found in lessons.items()}
