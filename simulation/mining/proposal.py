"""Proposals: a scenario as a conversation suggests it, and what a person should check in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..scenario import Scenario

_ALIKE = 0.5  # Jaccard index of what two situations are described by
_WORD = re.compile(r"[^\W\d_]{3,}")
_NAME_WORDS = 4


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposed scenario.

    Attributes:
        number: Which conversation of the file it is from, from 1.
        scenario: The scenario, masked; its family is not decided yet.
        situation: Words that say what it is about; those of a family are alike.
        checks: What a person should look at, a sentence each.
    """

    number: int
    scenario: Scenario
    situation: str
    checks: Sequence[str] = ()


def with_families(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Return the proposals in families: one that is like a family's first joins it.

    A family stays in one split, so what is nearly the same must be in one.
    """
    founders: dict[str, frozenset[str]] = {}
    placed: list[Proposal] = []
    for each in proposals:
        words = _words(each.situation)
        family = next((name for name, own in founders.items() if _alike(words, own)), None)
        if family is None:
            family = _unused(slug(each.situation) or "situation", founders)
            founders[family] = words
        placed.append(replace(each, scenario=each.scenario.model_copy(update={"family": family})))
    return placed


def slug(text: str) -> str:
    """Return a short name: the first words in small letters, with hyphens."""
    return "-".join(_WORD.findall(text.casefold())[:_NAME_WORDS])


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    union = first | second
    return not union or len(first & second) / len(union) >= _ALIKE


def _unused(name: str, taken: Iterable[str]) -> str:
    known = set(taken)
    numbered = (f"{name}-{number}" for number in range(2, len(known) + 3))
    return name if name not in known else next(each for each in numbered if each not in known)
