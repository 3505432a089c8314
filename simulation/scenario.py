"""Scenarios: what a customer wants, where the world starts, and where it should end."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Scenario(BaseModel):
    """One customer's errand.

    Attributes:
        id: Unique in its file.
        family: Situation or phrasing scheme; splits go by family, so no family is in two splits.
        goal: What the customer wants, in plain words.
        initial_state: What the assistant's `start` receives, JSON.
        expected: The end state in the assistant's own terms, JSON; empty when it is not known.
        tags: Free labels to filter and report by.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    family: str = Field(min_length=1)
    goal: str = Field(min_length=1)
    initial_state: dict[str, Any] = Field(default_factory=dict)
    expected: dict[str, Any] = Field(default_factory=dict)
    tags: tuple[str, ...] = ()
