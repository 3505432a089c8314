"""Personal data that a text gives away, as far as its form tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DIGITS = re.compile(r"\+?\d(?:[ \-/().]{0,2}\d)+")
# Five digits alone may be an order number: a place or a word about addresses must be beside them.
_POSTAL_CODE = re.compile(
    r"(?:\b(?i:zip|postal|postcode|plz|code)\W+(?:\w+\W+){0,2})(?P<after_word>\d{5})(?!\d)"
    r"|(?<!\d)(?P<before_place>\d{5})\s+[A-ZÄÖÜ]\w{2,}"
)
_NO_DIGIT = re.compile(r"\D")


@dataclass(frozen=True, slots=True)
class Datum:
    """One piece of personal data.

    Attributes:
        kind: What it is: `e-mail address`, `card number`, `phone number`, `postal code`.
        value: The datum in one form, however it was typed.
        start: Where it begins in the text.
        end: Where the text goes on after it.
    """

    kind: str
    value: str
    start: int
    end: int


def personal_data(text: str) -> Iterator[Datum]:
    """Yield all personal data that a text gives away."""
    for match in _EMAIL.finditer(text):
        yield Datum("e-mail address", match.group().casefold(), *match.span())
    for match in _DIGITS.finditer(text):
        digits = _NO_DIGIT.sub("", match.group())
        if 13 <= len(digits) <= 19 and _is_card_number(digits):
            yield Datum("card number", digits, *match.span())
        elif 8 <= len(digits) <= 15 and match.group().startswith(("+", "0")):
            yield Datum("phone number", digits, *match.span())
    for match in _POSTAL_CODE.finditer(text):
        group = "after_word" if match["after_word"] else "before_place"
        yield Datum("postal code", match[group], *match.span(group))


def data_like(text: str) -> set[str]:
    """Return everything in a text that may be personal, in the form of `Datum.value`."""
    mails = {match.group().casefold() for match in _EMAIL.finditer(text)}
    return mails | {_NO_DIGIT.sub("", match.group()) for match in _DIGITS.finditer(text)}


def _is_card_number(digits: str) -> bool:
    """Say whether the last digit is the check digit of the others (Luhn's formula)."""
    doubled = [2 * int(digit) for digit in digits[-2::-2]]
    plain = [int(digit) for digit in digits[-1::-2]]
    return (sum(plain) + sum(each - 9 if each > 9 else each for each in doubled)) % 10 == 0
