"""Text as a shopper would compare it: what counts as the same name."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SEPARATORS = re.compile(r"[\s_\-‐-―]+")  # noqa: RUF001  (all Unicode dashes)
_NUMBER_THEN_UNIT = re.compile(r"(?<=\d)(?=[^\W\d])")
_PLURAL_S = re.compile(r"(?<=[^\Ws])s\b")
_FINAL_E = re.compile(r"(?<=\w)e\b")
_FINAL_I = re.compile(r"(?<=\w)i\b")


@lru_cache(maxsize=10_000)
def normalise(text: str) -> str:
    """Return a form in which differences that do not matter are gone.

    Ignored are case, accents, white space, hyphens, a missing space between number and unit, and
    the plural: `Crème-Fraîche` is `creme fraiche`, `500g` is `500 g`, `tomatoes` is `tomato`,
    `berries` is `berry`. The form is for comparing only; its words need not exist.
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    spaced = _NUMBER_THEN_UNIT.sub(" ", _SEPARATORS.sub(" ", plain).strip())
    singular = _PLURAL_S.sub("", spaced)
    return _FINAL_I.sub("y", _FINAL_E.sub("", singular))


def same_name(first: str, second: str) -> bool:
    """Say whether two texts name the same thing; see `normalise`."""
    return normalise(first) == normalise(second)
