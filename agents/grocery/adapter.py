"""The grocery assistant as a kind of assistant that a configuration can name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..adapters.adapter import Means
from ..adapters.settings import GROCERY
from ..errors import UsageError
from ..prompts import PromptBundle
from .assistant import PROMPTS, GroceryAssistant
from .signatures import AGENTS


class GroceryAdapter:
    """See `Adapter`."""

    name = GROCERY

    @property
    def prompts(self) -> PromptBundle:
        """The seed prompts that come with it."""
        return PromptBundle.load(PROMPTS)

    def identity(self) -> Mapping[str, Any]:
        """Return what each agent receives and returns."""
        return {"agents": {name: agent.interface for name, agent in AGENTS.items()}}

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Refuse placeholders for which the assistant has no value."""
        for name, prompt in prompts.items():
            known = list(AGENTS[name].signature.input_fields)
            unknown = sorted(prompt.placeholders - set(known))
            if unknown:
                raise UsageError(
                    f"The prompt {source}/{name}.md has the placeholder "
                    f"'{{{{ {unknown[0]} }}}}', for which the assistant has no value. It can name "
                    f"the agent's inputs: {', '.join(known)}."
                )

    def connect(self, means: Means) -> GroceryAssistant:
        """Return the assistant.

        Raises:
            UsageError: It has no model.
        """
        if means.lm is None:
            raise UsageError("The assistant has no model; name one in 'models.task'.")
        return GroceryAssistant(means.lm)
