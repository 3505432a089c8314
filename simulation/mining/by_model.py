"""Proposals with a model: what it is asked about a conversation, and what its answer says.

The model reads the conversation masked, and its answer is masked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import dspy
from pydantic import BaseModel, ConfigDict, ValidationError

from ...agents.assistant import ToolCall
from ...agents.compact_adapter import render_value
from ..scenario import Errand, Fact, ItemErrand, QuestionErrand, Scenario
from ..term import Term
from ..trajectory import Trajectory
from .masking import masked, masked_value
from .proposal import Proposal

INSTRUCTIONS = Path(__file__).with_name("mine.md")
_LONGEST_RESULT = 400
_UNUSABLE = "The model gave no usable answer for this one: it was proposed by rules."


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MinedTerm(_Part):
    """A condition on an item."""

    field: str
    operator: Literal["is", "is_not", "includes", "excludes", "at_most", "at_least"]
    value: str
    say: str


class MinedItem(_Part):
    """An item that the customer wants in the end."""

    item: str
    quantity: int
    terms: list[MinedTerm]


class MinedFact(_Part):
    """Something about the customer that came up."""

    name: str
    value: str


class MineScenario(dspy.Signature):
    """Instructed by `mine.md`."""

    conversation: str = dspy.InputField()
    situation: str = dspy.OutputField()
    goal: str = dspy.OutputField()
    items: list[MinedItem] = dspy.OutputField()
    questions: list[str] = dspy.OutputField()
    facts: list[MinedFact] = dspy.OutputField()
    unsure: list[str] = dspy.OutputField()


def inputs_of(conversation: Trajectory) -> dict[str, str]:
    """Return what the model reads of a conversation."""
    return {"conversation": "\n".join(_lines(conversation))}


def answered(by_rules: Proposal, answer: Mapping[str, Any]) -> Proposal:
    """Return the proposal with what the model says of wishes, facts and goal.

    Args:
        by_rules: What rules propose for the same conversation; opening and state are kept.
        answer: The output fields of `MineScenario`.
    """
    said = masked_value(dict(answer))
    kept = by_rules.scenario
    try:
        scenario = Scenario(
            id=kept.id,
            family=kept.family,
            goal=said["goal"],
            opening=kept.opening,
            facts=tuple(Fact(**fact) for fact in said["facts"]),
            errands=_errands(said) or kept.errands,
            initial_state=kept.initial_state,
        )
    except ValidationError:
        return unanswered(by_rules)
    situation = said["situation"].strip() or by_rules.situation
    return Proposal(by_rules.number, scenario, situation, tuple(said["unsure"]))


def unanswered(by_rules: Proposal) -> Proposal:
    """Return the proposal by rules, for want of another."""
    return replace(by_rules, checks=(_UNUSABLE, *by_rules.checks))


def _errands(said: Mapping[str, Any]) -> tuple[Errand, ...]:
    items: Sequence[Errand] = [
        ItemErrand(
            id=f"item-{number}",
            item=each["item"],
            quantity=max(1, each["quantity"]),
            must=tuple(_term(term) for term in each["terms"] if term["field"] and term["say"]),
        )
        for number, each in enumerate(said["items"], start=1)
        if each["item"].strip()
    ]
    questions = [
        QuestionErrand(id=f"question-{number}", say=each)
        for number, each in enumerate(said["questions"], start=1)
        if each.strip()
    ]
    return (*items, *questions)


def _term(said: Mapping[str, str]) -> Term:
    """Return a term; what is compared as a number is one."""
    value: str | float = said["value"]
    if said["operator"] in ("at_most", "at_least"):
        value = _number(said["value"])
    return Term.model_validate({**said, "value": value})


def _number(text: str) -> str | float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return text


def _lines(conversation: Trajectory) -> Iterator[str]:
    for turn in conversation.turns:
        yield f"Customer: {masked(turn.message)}"
        for call in turn.reply.calls:
            if isinstance(call, ToolCall):
                result = masked(call.error or render_value(call.result))[:_LONGEST_RESULT]
                yield f"Tool {call.tool} {render_value(masked_value(call.arguments))}: {result}"
        yield f"Assistant: {masked(turn.reply.text)}"
