"""Sessions of assistants that say what they do through a recording."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ..assistant import Reply
from ..errors import CotuneError, Fault, FaultError, FaultOrigin
from ..recording import as_json, recording
from .outage import causes_of, outage_of


class RecordedSession(ABC):
    """A `Session` whose turns are recorded and whose outages are told from its defects.

    Attributes:
        world: The state of the world, JSON values; what the assistant's code makes of it.
    """

    def __init__(self, world: Mapping[str, Any]) -> None:
        self.world: dict[str, Any] = as_json(dict(world))

    @abstractmethod
    async def answer(self, message: str) -> str:
        """Return what the assistant says; what it does on the way is recorded."""

    async def reply(self, message: str) -> Reply:
        """Answer the customer's message; see `Session.reply`."""
        with recording() as done:
            try:
                text = await self.answer(message)
            except CotuneError:
                raise
            except Exception as error:
                if (ours := _ours(error)) is not None:
                    raise ours from error
                raise
        return Reply(text, tuple(done.calls))

    def state(self) -> Mapping[str, Any]:
        """Return a JSON snapshot of the world."""
        return as_json(self.world)


def _ours(error: Exception) -> CotuneError | None:
    """Return what a framework wrapped of ours, or the provider's fault; None for a defect."""
    for cause in causes_of(error):
        if isinstance(cause, CotuneError):
            return cause
    fault = outage_of(error)
    return None if fault is None else FaultError(fault)


class UnfitSession(RecordedSession):
    """A conversation under prompts that the assistant's own code refuses.

    Seed prompts are checked before anything is spent, so these are a candidate's, which fails.
    """

    def __init__(self, world: Mapping[str, Any], reason: str) -> None:
        super().__init__(world)
        self._reason = reason

    async def answer(self, message: str) -> str:
        """Fail.

        Raises:
            FaultError: Always; the assistant's.
        """
        raise FaultError(Fault(FaultOrigin.ASSISTANT, "unfit_prompt", self._reason))
