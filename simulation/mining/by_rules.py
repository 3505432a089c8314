"""Proposals without a model: from what the customer said and what tools were called with.

Wishes are the items that tools were called with and that the customer spoke of; facts are what
the customer answered to questions; changes are switches of the world's state that were thrown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...agents.yaml_file import load_yaml
from ..scenario import ChangeErrand, Errand, Fact, ItemErrand, QuestionErrand, Scenario
from ..term import Term
from ..trajectory import StopReason, Trajectory
from .masking import masked, masked_value
from .proposal import Proposal, slug

_ARGUMENTS = Path(__file__).with_name("arguments.yaml")
_MOST = 99  # units; a larger number means something else
_WORD = re.compile(r"[^\W\d_]{3,}")
_LONGEST_GOAL = 200


class Arguments(BaseModel):
    """Names of arguments by what they say; see `arguments.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: tuple[str, ...]
    quantity: tuple[str, ...]
    at_most: tuple[str, ...]
    brand: tuple[str, ...]


def proposed(number: int, conversation: Trajectory) -> Proposal | None:
    """Return what a conversation suggests; None when its customer said nothing.

    Args:
        number: Which conversation of its file it is, from 1.
        conversation: The conversation.
    """
    first = next((turn.message for turn in conversation.turns if turn.message.strip()), None)
    if first is None:
        return None
    opening = masked(first)
    items = _items(conversation)
    errands = (*items, *_changes(conversation))
    facts = tuple(_facts(conversation))
    scenario = Scenario(
        id=f"mined-{number:03d}",
        family="mined",
        goal=" ".join(opening.split())[:_LONGEST_GOAL],
        opening=opening,
        facts=facts,
        errands=errands or (QuestionErrand(id="ask", say=opening),),
        initial_state=masked_value(dict(conversation.initial_state)),
    )
    about = " ".join(item.item for item in items) or opening
    checks = ("The goal is the customer's first message: what did they want in the end?",)
    return Proposal(number, scenario, about, (*checks, *_doubts(conversation, scenario)))


def _doubts(conversation: Trajectory, scenario: Scenario) -> Iterator[str]:
    if any(isinstance(errand, ItemErrand) for errand in scenario.errands):
        yield "Wishes are what tools were called with: were they understood rightly, all of them?"
    if isinstance(scenario.errands[0], QuestionErrand):
        yield "No wish was found in tool calls: a question, or something to be done?"
    if scenario.facts:
        yield "Facts are the answers to questions: give each a name that fits other questions."
    if conversation.stop in (StopReason.GAVE_UP, StopReason.REFUSED, StopReason.FAULT):
        yield f"It ended with '{conversation.stop}': how should it end (outcome)?"
    if any(masked(turn.message) != turn.message for turn in conversation.turns):
        yield "Personal data was masked: put in made-up data where the scenario needs some."


def _items(conversation: Trajectory) -> tuple[ItemErrand, ...]:
    heard = set(_WORD.findall(" ".join(t.message for t in conversation.turns).casefold()))
    found: dict[str, ItemErrand] = {}
    for _, call in conversation.tool_calls():
        item = _first(call.arguments, _arguments().item, str)
        name = "" if item is None else masked(item).strip()
        if slug(name) and not heard.isdisjoint(_WORD.findall(name.casefold())):
            found[name.casefold()] = _item(name, call.arguments)
    numbered = enumerate(found.values(), start=1)
    return tuple(each.model_copy(update={"id": f"item-{n}"}) for n, each in numbered)


def _item(name: str, arguments: Mapping[str, Any]) -> ItemErrand:
    asked = _first(arguments, _arguments().quantity, int) or 1
    quantity = asked if 0 < asked <= _MOST else 1
    return ItemErrand(id="item", item=name, quantity=quantity, must=tuple(_terms(arguments)))


def _terms(arguments: Mapping[str, Any]) -> Iterator[Term]:
    limit = _first(arguments, _arguments().at_most, int, float)
    if limit is not None and limit > 0:
        yield Term(field="price", operator="at_most", value=limit, say=f"for at most {limit:g}")
    brand = _first(arguments, _arguments().brand, str)
    if brand is not None and brand.strip():
        yield Term(field="brand", operator="is", value=brand, say=f"from {brand}")


def _first(arguments: Mapping[str, Any], names: tuple[str, ...], *types: type) -> Any:
    values = (arguments[name] for name in names if name in arguments)
    return next((each for each in values if type(each) in types), None)


def _facts(conversation: Trajectory) -> Iterator[Fact]:
    """Yield what was answered to a question; a question that was repeated only once."""
    named: set[str] = set()
    for turn, following in zip(conversation.turns, conversation.turns[1:], strict=False):
        question = turn.reply.text.strip().rpartition("\n")[2]
        name = " ".join(_WORD.findall(masked(question).casefold())[-3:])
        if question.endswith("?") and following.message.strip() and name and name not in named:
            named.add(name)
            yield Fact(name=name, value=masked(following.message))


def _changes(conversation: Trajectory) -> Iterator[Errand]:
    """Yield what was switched on, with the words upon which it was."""
    before = conversation.initial_state
    for turn in conversation.turns:
        for name, value in turn.state.items():
            if value is True and before.get(name) is not True and turn.message.strip():
                say = masked(turn.message)
                yield ChangeErrand(id=f"change-{name}", say=say, reached={name: True})
        before = turn.state


@cache
def _arguments() -> Arguments:
    return load_yaml(Arguments, _ARGUMENTS, "names of arguments")
