"""Sampling seeds of the calls of one conversation, whatever order they are made in."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from ..fingerprint import fingerprint


class Seeds:
    """Draws a seed for each call from what is asked, and from how often it was asked before.

    Agents that work side by side, even in threads, get the same seeds in every repetition.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._asked: Counter[str] = Counter()
        self._lock = Lock()

    def draw(self, asked: object) -> int:
        """Return the seed of a call.

        Args:
            asked: What makes the call, JSON. Without the prompt, candidates are compared under
                the same seeds.
        """
        call = fingerprint([self._seed, asked])
        with self._lock:
            self._asked[call] += 1
            times = self._asked[call]
        return int(fingerprint([call, times], 8), 16)
