"""Chance without a random state: the same circumstances always draw the same number."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from ..fingerprint import canonical_json

T = TypeVar("T")


def draw(*circumstances: object) -> float:
    """Return a number in [0, 1) that depends on nothing but the JSON values given."""
    digest = hashlib.sha256(canonical_json(circumstances).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def pick(options: Sequence[T], *circumstances: object) -> T:
    """Return one of the options, all equally likely."""
    return options[int(draw(*circumstances) * len(options))]
