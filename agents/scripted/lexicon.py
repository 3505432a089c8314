"""The simulation's general knowledge of groceries, from `lexicon.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict


class DietWords(BaseModel):
    """Regular expressions that name a diet outright, and those that only imply it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    named: tuple[str, ...]
    implied: tuple[str, ...]


class Lexicon(BaseModel):
    """See the comments in `lexicon.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    numbers: dict[str, int]
    products: frozenset[str]
    translations: dict[str, str]
    brands: tuple[str, ...]
    stores: tuple[str, ...]
    store_kinds: tuple[str, ...]
    diets: dict[str, DietWords]
    function_words: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Read the lexicon."""
    path = Path(__file__).with_name("lexicon.yaml")
    return Lexicon.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
