"""The singular of an English noun, by its ending."""

from __future__ import annotations


def singular(word: str) -> str:
    """Return a word without its plural ending, as good as it goes without a dictionary."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("oes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
