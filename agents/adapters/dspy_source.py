"""Where DSPy programs come from: an object that is copied, or what makes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import dspy

from ..errors import UsageError
from .imported import imported
from .settings import DspySettings


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """Makes a program for each conversation.

    Attributes:
        program: One, to be looked at only.
        start: Makes one from the state of the world, which it may keep and change.
    """

    program: dspy.Module
    start: Callable[[dict[str, Any]], dspy.Module]

    @classmethod
    def of(cls, settings: DspySettings) -> ProgramSource:
        """Find what `settings.path` names.

        A module is copied. A class or function is called once, and what it makes is copied; one
        that takes an argument is given the state, anew for each conversation.

        Raises:
            UsageError: It is none of these, or it failed.
        """
        found = imported(settings)
        if isinstance(found, dspy.Module):
            return cls(found, lambda _: found.deepcopy())
        if not callable(found):
            raise UsageError(
                f"assistant.path: '{settings.path}' is neither a dspy.Module nor makes one, but "
                f"{type(found).__name__}."
            )
        if not _takes_the_state(found):
            program = _made(found, settings)
            return cls(program, lambda _: program.deepcopy())
        program = _made(found, settings, {})
        if _made(found, settings, {}) is program:
            raise UsageError(
                f"assistant.path: '{settings.path}' takes the state and returns the same program "
                "each time; conversations would share it. Let it make a new one."
            )
        return cls(program, lambda state: _made(found, settings, state))


def _takes_the_state(found: Callable[..., Any]) -> bool:
    # dspy's metaclass hides what a module's class takes.
    maker = partial(found.__init__, None) if isinstance(found, type) else found
    parameters = inspect.signature(maker).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(each.kind in kinds and each.default is each.empty for each in parameters)


def _made(found: Callable[..., Any], settings: DspySettings, *state: dict[str, Any]) -> dspy.Module:
    try:
        made = found(*state)
    except Exception as error:  # whatever a team's code raises
        given = "(state), with an empty state" if state else "()"
        raise UsageError(
            f"assistant.path: calling '{settings.path}' as {given} failed: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(made, dspy.Module):
        raise UsageError(
            f"assistant.path: '{settings.path}' must make a dspy.Module, found "
            f"{type(made).__name__}."
        )
    return made
