"""Pack sizes such as "500 g" or "6 x 1.5 l", made comparable per kilogram, litre or piece."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIZE = re.compile(r"(?:(\d+)\s*[x\u00d7]\s*)?(\d+(?:[.,]\d+)?)\s*([a-z]+)\.?\Z")
_UNITS = {
    "g": (0.001, "kg"),
    "gram": (0.001, "kg"),
    "grams": (0.001, "kg"),
    "kg": (1.0, "kg"),
    "kilo": (1.0, "kg"),
    "ml": (0.001, "l"),
    "cl": (0.01, "l"),
    "l": (1.0, "l"),
    "liter": (1.0, "l"),
    "litre": (1.0, "l"),
    "liters": (1.0, "l"),
    "litres": (1.0, "l"),
    "pc": (1.0, "piece"),
    "pcs": (1.0, "piece"),
    "piece": (1.0, "piece"),
    "pieces": (1.0, "piece"),
}


@dataclass(frozen=True, slots=True)
class Size:
    """What is in a pack.

    Attributes:
        amount: In kilograms, litres or pieces.
        unit: `kg`, `l` or `piece`.
    """

    amount: float
    unit: str

    @classmethod
    def parse(cls, text: str) -> Size | None:
        """Read a size as people and models write it; None when it is not one."""
        match = _SIZE.match(text.strip().lower())
        if match is None or match[3] not in _UNITS:
            return None
        factor, unit = _UNITS[match[3]]
        amount = int(match[1] or 1) * float(match[2].replace(",", ".")) * factor
        return cls(round(amount, 6), unit) if amount > 0 else None
