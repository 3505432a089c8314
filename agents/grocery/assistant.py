"""The reference assistant: a grocery shop's chat, in the shape the blueprint describes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dspy

from ..agent import Agent
from ..errors import UsageError
from ..prompts import PromptBundle
from .session import GrocerySession
from .signatures import AGENTS
from .world import World

PROMPTS = Path(__file__).parent / "prompts"


class GroceryAssistant:
    """An `Assistant` of seven agents over a small real shop; it keeps nothing between sessions."""

    def __init__(self, lm: dspy.BaseLM) -> None:
        """Use one model for all agents."""
        self._lm = lm
        self._prompts = PromptBundle.load(PROMPTS)

    @property
    def prompts(self) -> PromptBundle:
        """The seed prompts: plain, as a team would first write them."""
        return self._prompts

    @property
    def agents(self) -> Mapping[str, Agent]:
        """The agents by name, to call one alone."""
        return AGENTS

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> GrocerySession:
        """Open a conversation; any number may run side by side.

        Args:
            prompts: What each agent is told.
            scenario_state: The fields of `ScenarioState`.
            seed: From which the seed of every call is derived.

        Raises:
            UsageError: An agent has no prompt, or the state is not as it should be.
        """
        missing = sorted(AGENTS.keys() - prompts.keys())
        if missing:
            raise UsageError(
                f"The grocery assistant needs a prompt for '{missing[0]}', and the bundle has "
                f"none. It has {', '.join(prompts) or 'no prompt at all'}."
            )
        return GrocerySession(self._lm, prompts, World.of(scenario_state), seed)
