"""The val policy: on which val examples accepted children are scored in the search.

The finalists of the selection play all of val with fresh repeats in any case, so a search that
tells good edits from bad ones on train need not pay for all of val with every child.
"""

from __future__ import annotations

from collections.abc import Sequence

from .example import Example
from .noise import spread
from .settings import Search

_SHARE = 4
_LEAST = 8


def searched_val(val: Sequence[Example], settings: Search) -> list[Example]:
    """Return the val examples of the search: all, or a quarter and no fewer than eight."""
    if settings.val == "full":
        return list(val)
    return spread(val, max(_LEAST, len(val) // _SHARE))
