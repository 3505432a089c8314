"""The contract of adapters: what is known of an assistant before any model is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..assistant import Assistant
from ..budget import Budget
from ..ledger import Ledger
from ..lm import LanguageModel
from ..prompts import PromptBundle


@dataclass(frozen=True, slots=True)
class Means:
    """What an assistant is given to work with.

    Attributes:
        ledger: Where the calls of models are recorded, also those that a framework makes.
        lm: The model in the role `task`; None for an assistant that has models of its own.
        budget: What counts the tokens and money that a framework's calls use; None is no limit.
    """

    ledger: Ledger
    lm: LanguageModel | None = None
    budget: Budget | None = None


class Adapter(Protocol):
    """A kind of assistant, before any model is called."""

    @property
    def name(self) -> str:
        """What people call the assistant."""
        ...

    @property
    def prompts(self) -> PromptBundle:
        """The prompts that the assistant comes with; empty where they are kept elsewhere."""
        ...

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a conversation beside prompts and model, JSON."""
        ...

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Refuse prompts that would not reach the model as they are written.

        Args:
            prompts: Of some of its agents.
            source: Where they were read, for the message.

        Raises:
            UsageError: There is one; the message says why.
        """
        ...

    def connect(self, means: Means) -> Assistant:
        """Return the assistant, ready to talk."""
        ...
