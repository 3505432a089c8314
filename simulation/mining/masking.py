"""Masking: what tells who a customer is does not get into scenarios.

It finds what has a form: addresses for mail and e-mail, numbers of cards, phones, accounts and
customers. A name has none, so a person must look for those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..personal_data import personal_data

_MASKS: Mapping[str, str] = {
    "e-mail address": "[e-mail]",
    "card number": "[card number]",
    "phone number": "[phone number]",
    "postal code": "[postal code]",
}
_STREET = re.compile(
    r"\b\d{1,5}[a-z]?\s+(?:[A-Z][\w.'-]+\s+){1,3}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Square)\b\.?"
    r"|\b[\w.-]*(?:straße|strasse|str\.|weg|gasse|allee|platz)\s+\d{1,4}\s?[a-z]?\b"
    r"|\b(?:rue|avenue|via|calle|plaza)\s+(?:[\w'-]+\s+){1,4}\d{1,4}\b",
    re.IGNORECASE,
)
_LONG_NUMBER = re.compile(
    r"\b(?:[A-Z]{2}\d{2}[ ]?)?\d(?:[ \-/]?\d){6,}\b"
)  # with the head of an IBAN


def masked(text: str) -> str:
    """Return a text with a word in brackets in place of each piece of personal data."""
    untouched = len(text)  # up to where nothing was replaced yet, from the end
    for datum in sorted(personal_data(text), key=lambda each: (-each.end, each.start)):
        if datum.end <= untouched:  # digits inside an e-mail address are masked with it
            text = text[: datum.start] + _MASKS[datum.kind] + text[datum.end :]
            untouched = datum.start
    return _LONG_NUMBER.sub("[number]", _STREET.sub("[address]", text))


def masked_value(value: Any) -> Any:
    """Return a JSON value with its texts masked."""
    match value:
        case str():
            return masked(value)
        case Mapping():
            return {name: masked_value(part) for name, part in value.items()}
        case list() | tuple():
            return [masked_value(part) for part in value]
        case _:
            return value
