"""The registry of checks: functions a rubric file can name, with validated parameters.

A check is a plain function that returns a `Finding`. Its parameters are keyword-only and typed;
a rubric file sets them, and they are validated against the signature when the rubric is loaded.

    @call_check
    def equals(record: CallRecord, *, field: str) -> Finding: ...

    @trajectory_check
    def cart_complete(trajectory: Trajectory, scenario: Scenario) -> Finding: ...

    @turn_check
    def claimed_but_not_done(trajectory: Trajectory, scenario: Scenario, turn: int) -> Finding: ...

A turn check decides a criterion turn by turn, or, for a whole conversation, by its worst turn.
A check of your own needs no registration: name it `package.module:function` in the rubric file.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from ...agents.errors import UsageError
from ..subject import CallRecord, ConversationRecord, Subject, SubjectKind
from ..verdict import Finding, worst

CheckFunction = Callable[..., Finding]
F = TypeVar("F", bound=CheckFunction)

_NO_TURN = Finding.not_applicable("The conversation has no turn.")
_TURN_CHECK_TAKES = 3
_SHAPES: Mapping[SubjectKind, Mapping[int, str]] = {
    SubjectKind.CALL: {1: "(record, *, …)"},
    SubjectKind.TRAJECTORY: {
        2: "(trajectory, scenario, *, …)",
        _TURN_CHECK_TAKES: "(trajectory, scenario, turn, *, …)",
    },
}
_CHECKS: dict[SubjectKind, dict[str, Check]] = {kind: {} for kind in SubjectKind}


@dataclass(frozen=True)
class Check:
    """A function that judges one criterion by what is known, without a model.

    Attributes:
        name: As a rubric file names it.
        kind: What it looks at.
        function: Takes a `CallRecord`, or a `Trajectory` and its `Scenario`, and perhaps a turn.
        per_turn: Whether it takes a turn.
        parameters: Pydantic model of the function's keyword-only parameters.
    """

    name: str
    kind: SubjectKind
    function: CheckFunction
    per_turn: bool
    parameters: type[BaseModel]

    @cached_property
    def source(self) -> str:
        """The code that decides, so that a mended check is another check; its name where unknown.

        It is the whole of the function's file, and of the files beside it when they make up a
        package: helpers and word lists decide too.
        """
        module = inspect.getmodule(self.function)
        if module is None or module.__file__ is None:
            return self.name
        return _code(Path(module.__file__), bool(module.__package__))

    @classmethod
    def of(cls, name: str, kind: SubjectKind, function: CheckFunction) -> Check:
        """Read the parameters from a function's signature.

        Raises:
            UsageError: The function does not take what a check of this kind is given.
        """
        given = _require_shape(name, kind, function)
        try:
            parameters = _parameter_model(function)
        except NameError as error:
            raise UsageError(
                f"check '{name}': a type of its signature is unknown: {error}"
            ) from error
        return cls(name, kind, function, given == _TURN_CHECK_TAKES, parameters)

    def validate(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with defaults filled in.

        Raises:
            UsageError: One is unknown, missing or of the wrong type.
        """
        try:
            model = self.parameters.model_validate(dict(parameters))
        except ValidationError as error:
            raise UsageError(self._explain(error)) from error
        return {name: getattr(model, name) for name in self.parameters.model_fields}

    def run(self, subject: Subject, parameters: Mapping[str, Any]) -> Finding:
        """Look at a whole subject of this check's kind; of several turns the worst decides."""
        valid = self.validate(parameters)
        if isinstance(subject, CallRecord):
            return self.function(subject, **valid)
        if self.per_turn:
            return worst(self.run_turns(subject, valid))
        return self.function(subject.trajectory, subject.scenario, **valid)

    def run_turns(
        self, record: ConversationRecord, parameters: Mapping[str, Any]
    ) -> tuple[Finding, ...]:
        """Look at every turn of a conversation; only a check that is `per_turn` can.

        Returns:
            One finding per turn; a single one, not applicable, when there is no turn.
        """
        valid = self.validate(parameters)
        turns = range(len(record.trajectory.turns))
        findings = (
            self.function(record.trajectory, record.scenario, turn, **valid) for turn in turns
        )
        return tuple(replace(each, turn=turn) for turn, each in enumerate(findings)) or (_NO_TURN,)

    def _explain(self, error: ValidationError) -> str:
        known = ", ".join(self.parameters.model_fields) or "none"
        found = "; ".join(_parameter_problem(detail) for detail in error.errors())
        return f"check '{self.name}': {found}; it takes: {known}"


def call_check(function: F) -> F:
    """Register a function over a `CallRecord` under its own name."""
    return _register(SubjectKind.CALL, function)


def trajectory_check(function: F) -> F:
    """Register a function over a `Trajectory` and its `Scenario` under its own name."""
    return _register(SubjectKind.TRAJECTORY, function)


def turn_check(function: F) -> F:
    """Register a function over a turn of a `Trajectory`, in the light of the turns before it."""
    return _register(SubjectKind.TRAJECTORY, function)


def find_check(name: str, kind: SubjectKind) -> Check:
    """Return a registered check, or import a user's own (`package.module:function`).

    Raises:
        UsageError: There is no such check, or it is not one of this kind.
    """
    if ":" in name:
        return _own_check(name, kind)
    if name not in _CHECKS[kind]:
        known = ", ".join(sorted(_CHECKS[kind]))
        for other in SubjectKind:
            if name in _CHECKS[other]:
                raise UsageError(
                    f"'{name}' checks a {other}, and the rubric scores a {kind}; known: {known}"
                )
        raise UsageError(
            f"unknown {kind} check '{name}'; known: {known}, or your own as package.module:function"
        )
    return _CHECKS[kind][name]


def seek_checks_in(folder: Path) -> None:
    """Have a user's own checks be imported from a folder, too: where the rubric is, they are."""
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.append(place)


def _register(kind: SubjectKind, function: F) -> F:
    name = function.__name__
    if name in _CHECKS[kind]:
        raise ValueError(f"two {kind} checks are named '{name}'")
    _CHECKS[kind][name] = Check.of(name, kind, function)
    return function


def _code(file: Path, in_package: bool) -> str:
    beside = sorted(file.parent.iterdir()) if in_package else [file]
    files = [each for each in beside if each.suffix in (".py", ".yaml")]
    return "\n".join(each.read_text(encoding="utf-8") for each in files)


def _parameter_problem(detail: ErrorDetails) -> str:
    name = ".".join(str(part) for part in detail["loc"])
    match detail["type"]:
        case "extra_forbidden":
            return f"no parameter is named '{name}'"
        case "missing":
            return f"the parameter '{name}' is missing"
        case _:
            message = detail["msg"]
            return (
                f"parameter '{name}': found {detail['input']!r}; {message[0].lower()}{message[1:]}"
            )


@cache
def _own_check(name: str, kind: SubjectKind) -> Check:
    """Import a user's check once: every verdict asks for it."""
    return Check.of(name, kind, _imported(name))


def _imported(name: str) -> CheckFunction:
    module_name, _, attribute = name.partition(":")
    try:
        function = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"check '{name}' cannot be imported: {error}") from error
    if not callable(function):
        raise UsageError(f"check '{name}' is not a function")
    return cast(CheckFunction, function)


def _require_shape(name: str, kind: SubjectKind, function: CheckFunction) -> int:
    """Return how many positional parameters a check takes; it must be one of those allowed."""
    positional = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    shapes = _SHAPES[kind]
    if len(positional) not in shapes:
        wanted = " or ".join(shapes.values())
        found = inspect.signature(function)
        raise UsageError(f"{kind} check '{name}' must take {wanted}; its signature is {found}")
    return len(positional)


def _parameter_model(function: CheckFunction) -> type[BaseModel]:
    hints = get_type_hints(function)
    fields: dict[str, Any] = {
        name: (
            hints.get(name, Any),
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(f"{function.__name__}_parameters", __config__=config, **fields)
