"""Which fields of a DSPy program are the message, the history and the reply."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from ..errors import UsageError
from .settings import DspySettings

_ASIDE = frozenset({"reasoning", "rationale", "trajectory"})
"""Output fields that DSPy's own modules add."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A program's fields.

    Attributes:
        message: Input that gets the customer's message.
        history: Input that gets a `dspy.History` of the turns before; empty where there is none.
        output: Output that is the reply; empty where it is found in what is returned.
    """

    message: str
    history: str
    output: str

    @classmethod
    def of(cls, program: dspy.Module, settings: DspySettings) -> Fields:
        """Find a program's fields.

        Raises:
            UsageError: The settings do not say, and neither does the program.
        """
        inputs = _inputs(program)
        history = next((name for name, kind in inputs.items() if _is_history(kind)), "")
        messages = [name for name in inputs if name != history]
        if settings.input is not None and messages and settings.input not in messages:
            raise UsageError(
                f"assistant.input: the program '{settings.path}' has no input '{settings.input}'; "
                f"it has: {', '.join(messages)}."
            )
        message = settings.input or next(iter(messages), "")
        if not message:
            raise UsageError(
                f"The program '{settings.path}' does not say what its inputs are called; name the "
                "one that gets the customer's message in 'assistant.input'."
            )
        return cls(message, history, settings.output or "")

    def inputs(self, message: str, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the inputs of the next turn."""
        given: dict[str, Any] = {self.message: message}
        if self.history:
            given[self.history] = dspy.History(messages=[dict(turn) for turn in history])
        return given

    def reply(self, returned: Any) -> str:
        """Return the reply in what the program returned.

        Raises:
            UsageError: It is not clear which field it is.
            TypeError: It is no text.
        """
        said = returned if isinstance(returned, str) else returned[self._output(returned)]
        if not isinstance(said, str):
            raise TypeError(f"the program's reply must be a text, found {type(said).__name__}")
        return said

    def remembered(self, message: str, returned: Any) -> dict[str, Any]:
        """Return one turn of the history, by the program's own field names."""
        said = {"answer": returned} if isinstance(returned, str) else dict(returned.items())
        return {self.message: message, **said}

    def _output(self, returned: Any) -> str:
        if not isinstance(returned, dspy.Prediction):
            kind = type(returned).__name__
            raise TypeError(f"the program must return a dspy.Prediction or text, found {kind}")
        found = [name for name in returned.keys() if name not in _ASIDE]  # noqa: SIM118
        if self.output in found or len(found) == 1:
            return self.output or found[0]
        raise UsageError(
            f"The program returns the fields {', '.join(found) or 'none'}; name the one that is "
            "the reply in 'assistant.output'."
        )


def _inputs(program: dspy.Module) -> Mapping[str, Any]:
    """Return the inputs' types by name, as `forward` or else the signature declares them."""
    named = {
        each.name: each.annotation
        for each in list(_parameters(program))[1:]
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    }
    if named:
        return named
    (signature, *_) = [*_own_signature(program), *(p.signature for p in program.predictors())]
    return {name: each.annotation for name, each in signature.input_fields.items()}


def _parameters(program: dspy.Module) -> Iterable[inspect.Parameter]:
    """Return those of `aforward` or `forward`, whichever the program has."""
    for each in (vars(base) for base in type(program).__mro__):
        for name in ("aforward", "forward"):
            if name in each:
                return inspect.signature(each[name], eval_str=True).parameters.values()
    return ()


def _own_signature(program: dspy.Module) -> list[type[dspy.Signature]]:
    signature = vars(program).get("signature")
    return [] if signature is None else [signature]


def _is_history(kind: Any) -> bool:
    return kind is dspy.History
