"""Model settings by role, and what a model string means.

- `local:NAME` is an embedded model, served by a process of ours (`cotune model list`);
- `scripted:NAME?setting=value` is a simulation for tests and tours, never a language model;
- anything else is a LiteLLM model string such as `openai/gpt-4.1-mini`, with `api_base` for
  an OpenAI-compatible endpoint.
"""

from __future__ import annotations

import os
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .errors import UsageError

LOCAL = "local:"
SCRIPTED = "scripted:"
MODEL_STRINGS = (
    "A model string is PROVIDER/NAME such as openai/gpt-4.1-mini (openai/NAME with 'api_base' for "
    "any OpenAI-compatible server), local:NAME (see `cotune model list`) or scripted:grocery."
)


class Price(BaseModel):
    """What a model costs, in US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of one call in US dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


class ModelSettings(BaseModel):
    """One model and how it is called.

    Attributes:
        model: The model string; see the module.
        api_base: Address of an OpenAI-compatible endpoint.
        api_key_env: Name of the environment variable that holds the key, never the key.
        temperature: Sampling temperature; None sends none.
        max_tokens: Limit on one answer; None sends none.
        timeout: Seconds for one attempt.
        attempts: Requests sent at most for one call, the first included.
        max_wait: Seconds between two attempts at most, whatever the provider asks for.
        concurrency: Calls in flight at most; fewer after the provider has refused one.
        price: Overrides the price known for the model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    api_base: str | None = None
    api_key_env: str | None = None
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    max_tokens: int | None = Field(default=512, gt=0)
    timeout: float = Field(default=60.0, gt=0)
    attempts: int = Field(default=5, ge=1, le=20)
    max_wait: float = Field(default=120.0, ge=0)
    concurrency: int = Field(default=8, ge=1, le=1024)
    price: Price | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is an embedded model."""
        return self.model.startswith(LOCAL)

    @property
    def is_scripted(self) -> bool:
        """Whether it is a simulation."""
        return self.model.startswith(SCRIPTED)

    def identity(self) -> dict[str, Any]:
        """Return what of the settings determines an answer."""
        return {
            "model": self.model,
            "api_base": self.api_base,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }

    def api_key(self) -> str | None:
        """Read the key from the environment.

        Raises:
            UsageError: `api_key_env` names a variable that is not set.
        """
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env)
        if not key:
            raise UsageError(
                f"Model '{self.model}' takes its key from the environment variable "
                f"{self.api_key_env}, which is not set. Set it, or name another in 'api_key_env'."
            )
        return key
