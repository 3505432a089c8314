"""Whether an item is what the customer calls it, as far as its noun or its name tells."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache
from pathlib import Path

import yaml

from ..agents.singular import singular
from .view import Item

COUNTED = Path(__file__).with_name("counted.yaml")

_WORD = re.compile(r"[^\W\d_]+")
_MAIN = re.compile(r",| (?:with|without|in|for|from|of|and) ", re.IGNORECASE)


def likeness(item: Item, noun: str, sought: Collection[str] = ()) -> int | None:
    """Say how sure it is that an item is a `noun`: 0 is surest, None is that it is not.

    An item that tells its generic noun (`product`) is judged by it; 1 is then a special kind
    (`oat milk` for `milk`), or a kind that its name says (`Red apples` for `red apple`).
    Otherwise the name decides: 0 ends with the noun, 2 says all of it and was looked up as one,
    3 says what sets this kind apart and was looked up as one (`Oat drink` for `oat milk`).

    Args:
        item: The item.
        noun: What the customer wants.
        sought: What the assistant looked up when it found the item.
    """
    wanted = words(noun)
    product, name = str(item.get("product") or ""), str(item["name"])
    if product:
        kind = words(product)
        if kind == wanted:
            return 0
        named = wanted[-len(kind) :] == kind and set(wanted) <= set(words(name))
        return 1 if kind[-len(wanted) :] == wanted or named else None
    main = words(_MAIN.split(name)[0])
    if main[-len(wanted) :] == wanted:
        return 0
    if noun.casefold() not in sought:
        return None
    if set(wanted) <= set(main):
        return 2
    apart = set(wanted[:-1])
    return 3 if apart and apart <= set(main) else None


def plural(noun: str) -> str:
    """Return a noun the way it is said of packs: `cookies`, and `flour`.

    Only nouns of the list in `counted.yaml` are counted; of others nobody knows.
    """
    last = noun.rsplit(maxsplit=1)[-1].casefold()
    if last not in _counted():
        return noun
    if last.endswith("y") and last[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if last.endswith(("s", "sh", "ch", "x", "o")) else f"{noun}s"


@cache
def _counted() -> frozenset[str]:
    return frozenset(yaml.safe_load(COUNTED.read_text(encoding="utf-8")))


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Return the words in lower case, nouns as good as it goes in the singular."""
    return tuple(singular(word) for word in _WORD.findall(text.casefold()))
