"""A pause: the run stops before it would lose or distort anything, and can be resumed."""

from __future__ import annotations

from ..agents.errors import CotuneError


class PausedError(CotuneError):
    """Failures that are not the assistant's are too many; the same command goes on later."""
