"""Putting what the customer means into words: phrases from a file, drawn by seed, none twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from string import Formatter

from pydantic import BaseModel, ConfigDict

from ....agents.errors import UsageError
from ....agents.yaml_file import load_yaml
from ...persona import Persona, Verbosity
from .intent import Intent

PHRASES = Path(__file__).with_name("phrases.yaml")

Phrases = Mapping[str, Sequence[str]]
"""Variants by what they are for: the acts of `Intent`, and what goes before them."""


class _PhraseFile(BaseModel):
    """See the comments in the file.

    Attributes:
        placeholders: What the phrases of an act may name; of others, none.
        normal: Every act's phrases.
        short: Those that a customer of few words has instead.
        chatty: Those that a customer of many words has instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    placeholders: dict[str, tuple[str, ...]]
    normal: dict[str, tuple[str, ...]]
    short: dict[str, tuple[str, ...]]
    chatty: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Phrasing:
    """How one persona speaks."""

    phrases: Phrases

    @classmethod
    def of(cls, persona: Persona) -> Phrasing:
        """Return the phrases of a persona.

        Raises:
            UsageError: It has phrases for what no customer says, or with unknown placeholders.
        """
        file = _phrase_file()
        of_verbosity = {
            Verbosity.NORMAL: {},
            Verbosity.SHORT: file.short,
            Verbosity.CHATTY: file.chatty,
        }[persona.verbosity]
        _check(persona, file)
        return cls({**file.normal, **of_verbosity, **persona.phrases})

    def put(self, intent: Intent, said: Sequence[str], seed: str, opener: str = "") -> str:
        """Return an intent in words that were not said before.

        Args:
            intent: What is meant.
            said: Everything the customer said so far.
            seed: Decides between the variants.
            opener: What the message begins with: the name of some phrases.
        """
        before = {" ".join(message.split()).casefold() for message in said}
        for message in self._messages(intent, Random(seed), opener):
            if message.casefold() not in before:
                return message
        raise AssertionError("there is no end to the messages")

    def _messages(self, intent: Intent, random: Random, opener: str) -> Iterator[str]:
        """Yield messages that mean the same, the more roundabout the later."""
        parts = [self._variants(part, random) for part in intent.parts()]
        if opener:
            parts.insert(0, _shuffled(self.phrases[opener], random))
        plain = [" ".join(" ".join(each).split()) for each in _diagonal(parts)]
        yield from plain
        emphasis = _shuffled(self.phrases["emphasis"], random)
        for length in itertools.count(1):
            for words in itertools.product(emphasis, repeat=length):
                for message in plain:
                    yield f"{' '.join(words)} {message}"

    def _variants(self, part: Intent, random: Random) -> list[str]:
        if part.words:
            return [part.words]
        variants = _shuffled(self.phrases[part.act], random)
        return [_sentence(variant.format(**part.fields)) for variant in variants]


def _check(persona: Persona, file: _PhraseFile) -> None:
    for act, variants in persona.phrases.items():
        if act not in file.normal:
            raise UsageError(
                f"The persona '{persona.name}' has phrases for '{act}', which no customer says; "
                f"known: {', '.join(sorted(file.normal))}."
            )
        allowed = set(file.placeholders.get(act, ()))
        for variant in variants:
            unknown = sorted(_placeholders(variant) - allowed)
            if unknown:
                raise UsageError(
                    f"The persona '{persona.name}' has the phrase '{variant}' for '{act}' with the "
                    f"placeholder '{unknown[0]}'; allowed: {', '.join(sorted(allowed)) or 'none'}."
                )
        if not variants:
            raise UsageError(f"The persona '{persona.name}' has no phrase for '{act}'; give one.")


def _placeholders(phrase: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(phrase) if name is not None}
    except ValueError:
        return {phrase}  # braces that do not close


@cache
def _phrase_file() -> _PhraseFile:
    return load_yaml(_PhraseFile, PHRASES, "phrases file")


def _shuffled(variants: Sequence[str], random: Random) -> list[str]:
    return random.sample(list(variants), len(variants))


def _diagonal(parts: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield combinations of which two in a row differ in every part that has variants."""
    longest = max(len(variants) for variants in parts)
    for turn in range(longest):
        yield tuple(variants[turn % len(variants)] for variants in parts)


def _sentence(text: str) -> str:
    """Return a text that begins with a capital letter, as a template may begin with a field."""
    return text[:1].upper() + text[1:]
