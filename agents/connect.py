"""Connecting the models of a run: by role, with limits shared by those of one provider."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from .adaptive_limit import ProviderLimits
from .budget import Budget
from .ledger import Ledger, Role
from .lm import LanguageModel
from .models import ModelSettings


class Served(BaseModel):
    """The server that runs for a `local:` model.

    Attributes:
        endpoint: Its address, which every process that calls the model can reach.
        weights: What identifies the file that it serves.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str = Field(min_length=1)
    weights: str = ""


def connect(
    settings: Mapping[Role, ModelSettings],
    served: Mapping[str, Served],
    ledger: Ledger,
    budget: Budget | None = None,
) -> dict[Role, LanguageModel]:
    """Return the models; nothing is sent yet.

    Args:
        settings: By role.
        served: By model string, where each embedded model is served.
        ledger: Where calls are recorded.
        budget: What limits them.

    Raises:
        UsageError: A key's environment variable is not set.
        ModelUnusableError: A model string means nothing, or nothing serves the model.
    """
    limits = ProviderLimits()
    models = {}
    for role, wanted in settings.items():
        server = served.get(wanted.model)
        at = {"endpoint": server.endpoint, "weights": server.weights} if server else {}
        models[role] = LanguageModel(wanted, role, ledger, budget, limits=limits, **at)
    return models
