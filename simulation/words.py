"""Words that a simulated customer says: there must be some."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator


def _spoken(words: str) -> str:
    if not words.strip():
        raise ValueError("a customer cannot say nothing; write down the words")
    return words


def _spoken_if_given(words: str) -> str:
    if words and not words.strip():
        raise ValueError("a customer cannot say nothing; write down the words, or leave it out")
    return words


Words = Annotated[str, AfterValidator(_spoken)]
OptionalWords = Annotated[str, AfterValidator(_spoken_if_given)]
"""Empty where the customer has words of their own for it."""
