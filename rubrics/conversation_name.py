"""Names of conversations: what annotations, trajectories and verdicts call one and the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..simulation.importers.importer import MalformedError
from ..simulation.trajectory import Trajectory

_TOLD_APART_BY = ("prompts", "repeat", "seed", "trial")
_NAMED = 3


def conversation_name(scenario: str, label: Mapping[str, Any]) -> str:
    """Return the name of a conversation: its scenario, and what tells it from others of it.

    Args:
        scenario: Id of the scenario.
        label: The trajectory's metadata, or the label of its ruling.

    Returns:
        Such as `task-3#trial=0`; of a conversation with nothing of the kind, the scenario's id.
    """
    apart = [f"{name}={label[name]}" for name in _TOLD_APART_BY if name in label]
    return f"{scenario}#{','.join(apart)}" if apart else scenario


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation, or one turn of it.

    Attributes:
        conversation: Its name; see `conversation_name`.
        turns: How many turns it has.
        turn: The turn (from 0) that was named; None when the conversation was.
    """

    conversation: str
    turns: int
    turn: int | None = None


class KnownConversations:
    """Conversations by every name that somebody may use for one.

    These are its name, its scenario's id where no other conversation has the same, and the ids of
    the traces that it was imported from, each of which is a turn.
    """

    def __init__(self, trajectories: Iterable[Trajectory]) -> None:
        self._places: dict[str, dict[str, Place]] = {}
        for trajectory in trajectories:
            name = conversation_name(trajectory.scenario, trajectory.metadata)
            whole = Place(name, len(trajectory.turns))
            for known_as in (name, trajectory.scenario):
                self._places.setdefault(known_as, {})[name] = whole
            for turn, trace in enumerate(trajectory.metadata.get("traces", ())):
                self._places.setdefault(trace, {})[name] = Place(name, whole.turns, turn)

    def find(self, name: str) -> Place:
        """Return the conversation that goes by a name.

        Raises:
            MalformedError: None does, or several do.
        """
        found = self._places.get(name, {})
        if not found:
            raise MalformedError(f"there is no conversation '{name}' among the trajectories")
        if len(found) > 1:
            some = ", ".join(list(found)[:_NAMED])
            raise MalformedError(
                f"'{name}' is {len(found)} conversations; name one of them, such as {some}"
            )
        (place,) = found.values()
        return place
