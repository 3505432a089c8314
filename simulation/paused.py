"""A pause: the run stops before it would lose or distort anything, and can be resumed."""

from __future__ import annotations

from ..agents.errors import CotuneError


class PausedError(CotuneError):
    """Failures that are not the assistant's are too many; the same command goes on later."""


def allowed_faults(threshold: float, total: int) -> int:
    """Return how many of `total` may be lost before a run pauses.

    One never pauses a run, unless the threshold, a share, is 0.
    """
    return max(1, int(threshold * total)) if threshold else 0
