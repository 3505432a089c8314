"""The registry of checks: functions a rubric file can name, with validated parameters.

A check is a plain function that returns a `Finding`. Its parameters are keyword-only and typed;
a rubric file sets them, and they are validated against the signature when the rubric is loaded.

    @call_check
    def equals(record: CallRecord, *, field: str) -> Finding: ...

    @trajectory_check
    def cart_complete(trajectory: Trajectory, scenario: Scenario) -> Finding: ...

A check of your own needs no registration: name it `package.module:function` in the rubric file.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from ...agents.errors import UsageError
from ..subject import CallRecord, Subject, SubjectKind
from ..verdict import Finding

CheckFunction = Callable[..., Finding]
F = TypeVar("F", bound=CheckFunction)

_CHECKS: dict[SubjectKind, dict[str, Check]] = {kind: {} for kind in SubjectKind}


@dataclass(frozen=True)
class Check:
    """A function that judges one criterion by what is known, without a model.

    Attributes:
        name: As a rubric file names it.
        kind: What it looks at.
        function: Takes a `CallRecord`, or a `Trajectory` and its `Scenario`.
        parameters: Pydantic model of the function's keyword-only parameters.
    """

    name: str
    kind: SubjectKind
    function: CheckFunction
    parameters: type[BaseModel]

    @property
    def source(self) -> str:
        """The function's code, so that a mended check is another check; its name where unknown."""
        try:
            return inspect.getsource(self.function)
        except (OSError, TypeError):
            return self.name

    @classmethod
    def of(cls, name: str, kind: SubjectKind, function: CheckFunction) -> Check:
        """Read the parameters from a function's signature.

        Raises:
            UsageError: The function does not take what a check of this kind is given.
        """
        _require_shape(name, kind, function)
        try:
            parameters = _parameter_model(function)
        except NameError as error:
            raise UsageError(
                f"check '{name}': a type of its signature is unknown: {error}"
            ) from error
        return cls(name, kind, function, parameters)

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
        """Look at a subject of this check's kind."""
        valid = self.validate(parameters)
        if isinstance(subject, CallRecord):
            return self.function(subject, **valid)
        return self.function(subject.trajectory, subject.scenario, **valid)

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


def find_check(name: str, kind: SubjectKind) -> Check:
    """Return a registered check, or import a user's own (`package.module:function`).

    Raises:
        UsageError: There is no such check, or it is not one of this kind.
    """
    if ":" in name:
        return _own_check(name, kind)
    if name not in _CHECKS[kind]:
        known = ", ".join(sorted(_CHECKS[kind]))
        raise UsageError(
            f"unknown {kind} check '{name}'; known: {known}, or your own as package.module:function"
        )
    return _CHECKS[kind][name]


def _register(kind: SubjectKind, function: F) -> F:
    name = function.__name__
    if name in _CHECKS[kind]:
        raise ValueError(f"two {kind} checks are named '{name}'")
    _CHECKS[kind][name] = Check.of(name, kind, function)
    return function


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


def _require_shape(name: str, kind: SubjectKind, function: CheckFunction) -> None:
    given = 1 if kind is SubjectKind.CALL else 2
    positional = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    if len(positional) != given:
        wanted = "(record, *, …)" if given == 1 else "(trajectory, scenario, *, …)"
        found = inspect.signature(function)
        raise UsageError(f"{kind} check '{name}' must take {wanted}; its signature is {found}")


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
