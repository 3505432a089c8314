"""The player: an assistant and a kind of customer, ready to hold conversations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from ..agents.adapters.adapter import Means
from ..agents.adapters.kinds import adapter_of
from ..agents.assistant import Assistant
from ..agents.budget import Budget
from ..agents.connect import connect
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Ledger, Role, charged_to
from ..agents.lm import LanguageModel
from . import turn_checks
from .conversation import ConversationLimits, converse
from .played import Played
from .setup import Setup
from .user import UserKind
from .users.kinds import user_kind
from .work import Work


@dataclass(frozen=True, slots=True)
class Player:
    """Plays units of work, any number side by side.

    Attributes:
        assistant: Who is talked to.
        users: Who plays the customer.
        limits: How long a conversation may go on.
        ledger: Where the models record their calls.
        identity: Fingerprint of all that determines a conversation beside the work.
        models: The models that assistant and customers call, where they are known.
    """

    assistant: Assistant
    users: UserKind
    limits: ConversationLimits
    ledger: Ledger
    identity: str
    models: Mapping[Role, LanguageModel] = field(default_factory=dict)

    @classmethod
    def of(cls, setup: Setup, ledger: Ledger, budget: Budget | None = None) -> Self:
        """Build what a setup describes; nothing is connected to yet.

        Raises:
            UsageError: A model is missing, a key's environment variable is not set, or the
                assistant cannot be imported.
            ModelUnusableError: A model string means nothing.
        """
        models = connect(setup.models, setup.served, ledger, budget)
        adapter, model = adapter_of(setup.assistant), models.get(Role.TASK)
        assistant = adapter.connect(Means(ledger, model, budget))
        users = user_kind(setup.user, models)
        identity = {
            "assistant": adapter.name,
            **adapter.identity(),
            "model": model and model.identity(),
            "user": users.identity,
            "turn_checks": turn_checks.VERSION,
            "limits": setup.limits.identity,
        }
        return cls(assistant, users, setup.limits, ledger, fingerprint(identity, 32), models)

    async def play(self, work: Work, key: str = "") -> Played:
        """Hold one conversation.

        Args:
            work: Which.
            key: To which its model calls are charged; several attempts may share it.

        Raises:
            CotuneError: No conversation can succeed; what was spent stays in the ledger.
        """
        key = key or work.key(self.identity)
        with charged_to(key=key):
            trajectory = await converse(
                self.assistant, work.prompts, work.scenario, self.users, work.seed, self.limits
            )
        labelled = replace(trajectory, metadata={**trajectory.metadata, **work.label})
        return Played(labelled, self.ledger.collect_parts(key))
