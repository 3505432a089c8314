"""Worlds: what an assistant's tools work on, made from a scenario's state and read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel

from ..errors import UsageError
from ..recording import as_json

MakeWorld = Callable[..., Any]


def made(make: MakeWorld | None, state: dict[str, Any], field: str) -> Any:
    """Return what tools work on: the state itself, or what is made of its fields.

    Args:
        make: A class or a function that takes the state's fields as keywords.
        state: The scenario's state, this conversation's own.
        field: Where the configuration names it, for the message.

    Raises:
        UsageError: It cannot be made of this state.
    """
    if make is None:
        return state
    try:
        return make(**state)
    except Exception as error:  # whatever a team's own class raises
        fields = ", ".join(state) or "none"
        raise UsageError(
            f"assistant.{field}: it cannot be made of the scenario's initial state (fields: "
            f"{fields}): {type(error).__name__}: {error}"
        ) from error


def state_of(world: Any, state: dict[str, Any]) -> Mapping[str, Any]:
    """Return a JSON snapshot.

    A world that is data is its own state. Of any other object nothing is known but the state that
    it was made of, which it may hold on to and change.
    """
    if isinstance(world, Mapping | BaseModel) or is_dataclass(world):
        return as_json(world)
    return as_json(state)
