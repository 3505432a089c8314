"""Reading what a customer wishes for: small extractors, by pattern and lexicon.

Each takes a text and returns what it finds, or None or nothing when there is nothing; each is
about as good as a small language model that was told to look for it. Which are used in a call
is decided by the behaviour, from what its prompt mentions.
"""

from __future__ import annotations

import difflib
import re
from functools import cache

from .lexicon import lexicon
from .words import singular, words

_UNITS = {
    "kg": ("kg", 1.0), "kilo": ("kg", 1.0), "kilogram": ("kg", 1.0),
    "g": ("g", 1.0), "gram": ("g", 1.0), "gr": ("g", 1.0),
    "l": ("l", 1.0), "litre": ("l", 1.0), "liter": ("l", 1.0),
    "ml": ("ml", 1.0), "cl": ("ml", 10.0),
}  # fmt: skip
_UNIT = r"(kg|kilos?|kilograms?|grams?|gr|g|litres?|liters?|l|ml|cl)\b"
_DIGITS = r"(\d+(?:[.,]\d+)?)"
_MONEY = r"(?:€|euros?|eur|cents?)"
_LIMIT = (
    r"(?:under|below|less than|at most|max(?:imum)?\.?|up to|(?:no|not) more than|cheaper than"
    r"|budget(?: of| is|:)?|limit(?: of| is|:)?)"
)
_UNWANTED = (
    r"(?:without|no|not|nor|neither|excluding|exclude:?|except|anything but|leave out(?: the)?"
    r"|free of|isn't|avoid|never)"
)
_NOT_UNWANTED = {
    "more", "matter", "longer", "need", "hurry", "idea", "problem", "discussion", "thank", "too",
    "the", "a", "an", "any", "from", "at", "in", "so", "one", "rush", "to", "is", "be", "it",
}  # fmt: skip


def number(text: str) -> float | None:
    """Return the value of digits or of a number word."""
    text = text.replace(",", ".")
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else lexicon().numbers.get(text)


def product(text: str, *, spelling: bool = False) -> str:
    """Return the first product named, singular and in English; empty when none is known.

    Args:
        text: A customer's words.
        spelling: Whether misspelt words are recognized too.
    """
    for foreign, english in lexicon().translations.items():
        if re.search(rf"(?<!\w){re.escape(foreign)}(?!\w)", text.lower()):
            return english
    said = words(text)
    for start in range(len(said)):
        for length in (3, 2, 1):
            chunk = said[start : start + length]
            noun = " ".join([*chunk[:-1], singular(chunk[-1])])
            if noun in lexicon().products:
                return noun
    return _nearest_product(said) if spelling else ""


def quantity(text: str) -> float | None:
    """Return the number of units, which is no size, price, age or date."""
    lower = _without_measures(text.lower())
    if match := re.search(r"\b(half )?a dozen\b", lower):
        return 6.0 if match[1] else 12.0
    names = "|".join(name for name in lexicon().numbers if name not in {"a", "an"})
    pattern = (
        rf"\b(\d+|{names})\b"
        rf"(?!\s*(?:{_MONEY}|%|people|persons|of us|guests|months?|years?|o'clock|pack\b|[.,]\d))"
    )
    found = [match[1] for match in re.finditer(pattern, lower)]
    return number(found[0]) if found else None


def size(text: str) -> str:
    """Return the size of one unit as `500 g`, `1 l` or `6 pack`; empty when unsaid."""
    lower = text.lower()
    names = "|".join(lexicon().numbers)
    if match := re.search(rf"\bpacks? of ({names}|\d+)\b|\b({names}|\d+)[- ]packs?\b", lower):
        return f"{number(match[1] or match[2]):g} pack"
    if match := re.search(rf"\bhalf a {_UNIT}", lower):
        return _size(0.5, match[1])
    if match := re.search(rf"{_DIGITS}[ -]?{_UNIT}", lower):
        return _size(float(match[1].replace(",", ".")), match[2])
    if match := re.search(rf"\b({names})[ -]{_UNIT}", lower):
        return _size(number(match[1]) or 1.0, match[2])
    return ""


def budget(text: str) -> float | None:
    """Return the upper limit in euros; for several items together it is divided by them."""
    lower = text.lower()
    names = "|".join(name for name in lexicon().numbers if name not in {"a", "an"})
    amount = rf"€? ?(\d+(?:[.,]\d+)?|{names})\b ?({_MONEY})?"
    match = re.search(rf"\b{_LIMIT} {amount}", lower) or re.search(
        rf"\b{amount} (?:is my limit|tops|for all of|at (?:the )?most|or less)", lower
    )
    if match is None or (value := number(match[1])) is None:
        return None
    value = value / 100 if (match[2] or "").startswith("cent") else value
    if re.search(r"altogether|in total|for all of|together", lower):
        value /= quantity(lower.replace(match[0], " ")) or 1
    return round(value, 2)


def diets(text: str, *, implied: bool = False) -> list[str]:
    """Return the diets asked for by name, and with `implied` also those that follow."""
    lower = text.lower().replace("\u2019", "'")
    found = []
    for diet, said in lexicon().diets.items():
        patterns = said.named + (said.implied if implied else ())
        if any(re.search(rf"(?<!\w){pattern}(?!\w)", lower) for pattern in patterns):
            found.append(diet)
    return found


def excluded(text: str) -> list[str]:
    """Return the ingredients and brands not wanted; diets have words of their own."""
    pattern = rf"\b{_UNWANTED} ((?:[\w'äöüßéè]+)(?: (?:oil|lecithin|sugar|seeds?))?)"
    found: list[str] = []
    for match in re.finditer(pattern, text, re.IGNORECASE):
        noun = match[1]
        name = noun if noun[0].isupper() else singular(noun.lower())
        if noun.lower() in _NOT_UNWANTED or diets(f"no {noun}") or diets(f"without {noun}"):
            continue
        if name not in found:
            found.append(name)
    return found


def brand(text: str) -> str:
    """Return the first brand: a known one, or a capitalized name that the text calls one."""
    unwanted = excluded(text)
    for name in sorted(lexicon().brands, key=lambda name: _position(name, text)):
        if _position(name, text) < len(text) and name not in unwanted:
            return name
    match = re.search(
        r"\b(?:brand:?|by|from the brand) ([A-ZÄÖÜ][\w'-]+(?: [A-ZÄÖÜ][\w'-]+)?)", text
    )
    return match[1] if match and match[1] not in unwanted else ""


def store(text: str) -> str:
    """Return the store to buy at: a known one, a kind of shop, or a name after `at`."""
    place = r"(?:at|from|in|bei|to|store:?)(?: the)?"
    known = "|".join(map(re.escape, lexicon().stores))
    kinds = "|".join(lexicon().store_kinds)
    if match := re.search(rf"(?<!not )\b{place} ({known})\b", text):
        return match[1]
    if match := re.search(rf"\b{place} ({kinds})\b", text, re.IGNORECASE):
        return match[1].lower()
    match = re.search(r"\b(?:at|store:?)(?: the)? ([A-ZÄÖÜ][\w-]+(?: [A-ZÄÖÜ][\w-]+)?)", text)
    return match[1] if match else ""


def amount(size_text: str) -> float | None:
    """Return how much `6 x 1.5 l`, `500 g` or `10 pcs` is, in kg, l or pieces."""
    match = re.search(rf"(?:(\d+) ?x ?)?{_DIGITS} ?([a-z]+)", size_text.lower())
    if match is None:
        return None
    value = float(match[1] or 1) * float(match[2].replace(",", "."))
    return value * {"g": 0.001, "ml": 0.001, "cl": 0.01}.get(match[3], 1.0)


def _size(value: float, unit: str) -> str:
    name, factor = _UNITS[unit if unit in _UNITS else unit.removesuffix("s")]
    value *= factor
    smaller = {"kg": "g", "l": "ml"}
    if name in smaller and value < 1:
        return f"{value * 1000:g} {smaller[name]}"
    larger = {"g": "kg", "ml": "l"}
    if name in larger and value >= 1000:
        return f"{value / 1000:g} {larger[name]}"
    return f"{value:g} {name}"


def _without_measures(text: str) -> str:
    """Leave out numbers that say a size, a price or a limit."""
    names = "|".join(name for name in lexicon().numbers if name not in {"a", "an"})
    some = rf"(?:\d+(?:[.,]\d+)?|\b(?:{names}))"
    return re.sub(
        rf"{some}[ -]?{_UNIT}|\bpacks? of {some}|\bhalf a {_UNIT}|€ ?{some}|\b{_LIMIT} €? ?{some}\b"
        r"|\d+[.,]\d+",
        " ",
        text,
    )


def _position(name: str, text: str) -> int:
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    return match.start() if match else len(text)


def _nearest_product(said: list[str]) -> str:
    for word in said:
        close = difflib.get_close_matches(singular(word), _single_words(), 1, 0.8)
        if len(word) > 3 and close:
            return close[0]
    return ""


@cache
def _single_words() -> list[str]:
    return sorted(name for name in lexicon().products if " " not in name)
