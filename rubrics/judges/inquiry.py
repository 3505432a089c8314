"""Inquiries: which questions a judge is asked together, and by which prompt."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal

from ...agents.prompts import PromptBundle, read_prompt
from ..criterion import Criterion
from ..judge import Question
from ..rubric import Rubric
from .answer import NOBODY, words_of
from .rendering import Rendering
from .shortening import Focus

_PROMPTS = Path(__file__).with_name("prompts")


class Strategy(StrEnum):
    """What is asked in one call; turn by turn, each turn is a call of its own."""

    RUBRIC = "rubric"
    DOMAIN = "domain"
    CRITERION = "criterion"

    def prompt_name(self, rubric: Rubric, criterion: Criterion) -> str:
        """Return the name of the prompt by which a criterion is judged."""
        match self:
            case Strategy.RUBRIC:
                return rubric.id
            case Strategy.DOMAIN:
                return criterion.domain
            case Strategy.CRITERION:
                return criterion.id


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked in one call.

    Attributes:
        prompt: Name of the prompt.
        criteria: At least one.
        turn: The turn (from 0) that they are asked about; None for the whole conversation.
    """

    prompt: str
    criteria: tuple[Criterion, ...]
    turn: int | None = None

    @property
    def focus(self) -> Focus:
        """Where the evidence is to be found."""
        named = [criterion.agents for criterion in self.criteria]
        agents = frozenset(agent for agents in named for agent in agents) if all(named) else ()
        return Focus(frozenset(agents), self.turn)

    @property
    def about(self) -> str:
        """What is to be judged, in words."""
        return "the whole conversation" if self.turn is None else f"turn {self.turn + 1} only"

    @property
    def criteria_text(self) -> str:
        """The criteria as a judge reads them."""
        return "\n".join(_described(criterion) for criterion in self.criteria)

    def inputs(self, rendering: Rendering) -> dict[str, str]:
        """Return what is sent: the record first, so that a server can reuse having read it."""
        return {
            "conversation": f"\n{rendering.text}",
            "about": self.about,
            "criteria": f"\n{self.criteria_text}",
        }

    def only(self, ids: Collection[str]) -> Inquiry:
        """Return the inquiry about some of its criteria."""
        return replace(self, criteria=tuple(each for each in self.criteria if each.id in ids))


def inquiries(
    questions: Iterable[Question], rubric: Rubric, strategy: Strategy
) -> tuple[Inquiry, ...]:
    """Group questions into calls, in the order in which each group is first asked for."""
    groups: dict[tuple[str, int | None], list[Criterion]] = {}
    for question in questions:
        name = strategy.prompt_name(rubric, question.criterion)
        groups.setdefault((name, question.turn), []).append(question.criterion)
    return tuple(Inquiry(name, tuple(group), turn) for (name, turn), group in groups.items())


def judge_prompts(
    rubric: Rubric, strategy: Strategy, kind: Literal["judge", "word"] = "judge"
) -> PromptBundle:
    """Return the prompts to start from: the same text under every name a strategy asks for.

    Each can then be changed, or optimized, on its own.
    """
    seed = read_prompt(_PROMPTS / f"{kind}.md")
    names = {strategy.prompt_name(rubric, each) for each in rubric.criteria if each.judged}
    return PromptBundle.of(*(replace(seed, agent=name) for name in names))


def as_list(criterion: Criterion, items: Iterable[tuple[str, str]]) -> str:
    """Return a criterion and what is to be known of it, a line each."""
    head = f"criterion {criterion.id}: {criterion.name}"
    return "\n".join([head, *(f"- {label}: {' '.join(text.split())}" for label, text in items)])


def scale_of(criterion: Criterion) -> list[tuple[str, str]]:
    """Return the words for the values of a criterion's scale, each with what it looks like."""
    if isinstance(criterion.scale, str):
        texts = (criterion.passes, criterion.fails)
    else:
        texts = tuple(tier.text for tier in criterion.scale)
    return list(zip(words_of(criterion), texts, strict=True))


def _described(criterion: Criterion) -> str:
    agents = ", ".join(criterion.agents) or NOBODY
    return as_list(
        criterion,
        [("applies", criterion.applies), *scale_of(criterion), ("agents", agents)],
    )
