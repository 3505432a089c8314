"""Merging complementary members of the front, agent by agent."""

from __future__ import annotations

from ..agents.prompts import PromptBundle
from .candidate import Candidate, Pool


def merged(pool: Pool, parent: Candidate) -> PromptBundle | None:
    """Return the parent with another member's texts, or None when there is nothing new."""
    return None
