"""Figures in a text: amounts of money, measures and long numbers, compared by value."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = r"\d+(?:[.,]\d+)*"
_NUMBER_AND_UNIT = re.compile(rf"(?<![^\W\d_])({_NUMBER})[ \u00a0-]?([^\W\d_]+)?")
_FIGURE = re.compile(
    rf"[€$£]\s?(?P<price>{_NUMBER})"
    rf"|(?P<amount>{_NUMBER})[ \u00a0-]?(?P<unit>[€$£%]|(?:eur|euros?|dollars?|pounds?|cents?|ct"
    r"|kilos?|kg|mg|g|grams?|ml|cl|l|lit(?:er|re)s?|percent)\b)"
    r"|(?<!\w)(?P<long>\d{4,})\b",
    re.IGNORECASE,
)
_SMALLER = {
    "kg": 1000, "kilo": 1000, "kilos": 1000, "l": 1000, "liter": 1000, "liters": 1000,
    "litre": 1000, "litres": 1000, "cl": 10, "cent": 0.01, "cents": 0.01, "ct": 0.01,
}  # fmt: skip


def figures_in(message: str) -> Mapping[str, frozenset[float]]:
    """Return the figures of a message, each with its value as written and in small units.

    A bare count such as `2` or `a dozen` is no figure: it is the speaker's to choose.
    """
    return {
        match[0].strip(): _values(
            match["price"] or match["amount"] or match["long"], match["unit"] or ""
        )
        for match in _FIGURE.finditer(message)
    }


def values_in(text: str) -> frozenset[float]:
    """Return the values of all numbers in a text, as written and in small units."""
    found = (_values(number, unit) for number, unit in _NUMBER_AND_UNIT.findall(text))
    return frozenset[float]().union(*found)


def _values(number: str, unit: str) -> frozenset[float]:
    value = _value(number)
    return frozenset({round(value, 4), round(value * _SMALLER.get(unit.casefold(), 1), 4)})


def _value(number: str) -> float:
    """Read a number with either decimal sign; three digits after a comma are thousands."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        number = number.replace(",", "")
    whole, *fraction = re.split(r"[.,]", number)
    return float(f"{whole}.{''.join(fraction) or 0}")
