"""Terms: conditions on an item, said by a customer and checked in the item's data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .words import Words

Operator = Literal["is", "is_not", "includes", "excludes", "at_most", "at_least"]


class Term(BaseModel):
    """One condition on an item, such as vegan, of a brand, or under three euros.

    Attributes:
        field: The item's field: `diet`, `brand`, `price`, `size`, ...
        operator: How the field is compared; `includes` and `excludes` are for lists.
        value: What it is compared with.
        say: The customer's words for it, such as `vegan` or `from Alpro`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    field: str = Field(min_length=1)
    operator: Operator
    value: str | float
    say: Words

    def holds(self, item: Mapping[str, Any]) -> bool | None:
        """Say whether an item meets the term; None when the item does not show the field."""
        found = item.get(self.field)
        if found is None:
            return None
        return _COMPARISONS[self.operator](found, self.value)


def _same(found: Any, wanted: str | float) -> bool:
    if isinstance(found, str) and isinstance(wanted, str):
        return found.strip().casefold() == wanted.strip().casefold()
    return found == wanted


_COMPARISONS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "is": _same,
    "is_not": lambda found, value: not _same(found, value),
    "includes": lambda found, value: any(_same(each, value) for each in found),
    "excludes": lambda found, value: not any(_same(each, value) for each in found),
    "at_most": lambda found, value: float(found) <= float(value),
    "at_least": lambda found, value: float(found) >= float(value),
}
