"""Words of a text, as the simulation compares them."""

from __future__ import annotations

import re
from functools import lru_cache

from .lexicon import lexicon

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def words(text: str) -> list[str]:
    """Return the words in order, in lower case."""
    return _WORD.findall(text.lower().replace("\u2019", "'"))


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    empty = lexicon().function_words
    return frozenset(stem(word) for word in words(text) if word not in empty)


def stem(word: str) -> str:
    """Cut the commonest English endings; crude, but the same for both sides of a comparison."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def singular(noun: str) -> str:
    """Return the singular of an English noun, by its ending."""
    if noun.endswith("ies") and len(noun) > 4 and noun not in {"cookies", "brownies", "smoothies"}:
        return f"{noun[:-3]}y"
    if noun.endswith(("toes", "shes", "ches", "sses", "xes")):
        return noun[:-2]
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is", "as")):
        return noun[:-1]
    return noun
