"""Content fingerprints: the same content gives the same short name on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def canonical_json(value: object) -> str:
    """Serialize to JSON in one way only: sorted keys, no spaces, Unicode kept.

    Raises:
        TypeError: `value` holds something JSON cannot say.
    """
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_jsonable
    )


def fingerprint(value: object, length: int = 16) -> str:
    """Return the first `length` hex digits of the SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def _jsonable(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no canonical JSON form")
