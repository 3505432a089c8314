"""Setups: who plays the conversations of a run, as data that can be sent to another process."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ..agents.adapters.settings import AssistantSettings, GrocerySettings
from ..agents.connect import Served
from ..agents.ledger import Role
from ..agents.models import ModelSettings
from .conversation import ConversationLimits
from .users.settings import UserSettings

_CONVERSATIONS_PER_CALL = 2


class Setup(BaseModel):
    """Everything about who plays.

    Keys are named by environment variable, so a setup holds no secret.

    Attributes:
        assistant: The assistant under test.
        models: Models by role: `task` for an assistant that calls ours, `user` for customers that
            need one.
        served: By model string, where each embedded model is served.
        user: Who plays the customer.
        limits: How long a conversation may go on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    assistant: AssistantSettings = GrocerySettings()
    models: dict[Role, ModelSettings]
    served: dict[str, Served] = Field(default_factory=dict)
    user: UserSettings
    limits: ConversationLimits = ConversationLimits()

    def divided(self, parts: int) -> Setup:
        """Return the setup of one of several processes that share the calls in flight."""
        models = {
            role: settings.model_copy(update={"concurrency": max(1, settings.concurrency // parts)})
            for role, settings in self.models.items()
        }
        return self.model_copy(update={"models": models})


def conversations_at_once(most: int, task: ModelSettings | None) -> int:
    """Return how many conversations a task model can serve, at most `most`; None serves all.

    A conversation makes one call at a time. Two for each call in flight keep the model busy; more
    would only wait in line, and their time limits with them.
    """
    return most if task is None else min(most, _CONVERSATIONS_PER_CALL * task.concurrency)
