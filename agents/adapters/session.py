"""Sessions of assistants that say what they do through a recording."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ..assistant import Reply
from ..errors import CotuneError, FaultError
from ..recording import as_json, recording
from .outage import outage_of


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
                if (fault := outage_of(error)) is not None:
                    raise FaultError(fault) from error
                raise
        return Reply(text, tuple(done.calls))

    def state(self) -> Mapping[str, Any]:
        """Return a JSON snapshot of the world."""
        return as_json(self.world)
