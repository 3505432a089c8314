"""YAML files read into pydantic models, with errors that point at file, line and field."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .errors import UsageError

Place = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A YAML mapping that knows its lines.

    Attributes:
        path: Where it was read from.
        data: Its content.
        node: Its syntax tree, for line numbers.
    """

    path: Path
    data: Mapping[str, Any]
    node: yaml.Node

    @classmethod
    def read(cls, path: Path, what: str) -> YamlFile:
        """Read a file.

        Args:
            path: The file.
            what: What it should be, for messages: 'configuration', 'rubric'.

        Raises:
            UsageError: It cannot be read, is not YAML, or is not a mapping.
        """
        try:
            text = path.read_text(encoding="utf-8")
            node = yaml.compose(text, Loader=yaml.SafeLoader)
            data = yaml.safe_load(text)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"Cannot read the {what} {path}: {reason}.") from error
        except yaml.YAMLError as error:
            raise UsageError(f"The {what} {path} is not valid YAML: {_flat(error)}") from error
        if node is None or not isinstance(data, dict):
            found = "nothing" if data is None else type(data).__name__
            raise UsageError(f"The {what} {path} must be a mapping of fields; found {found}.")
        return cls(path, data, node)

    def line(self, place: Place) -> int:
        """Return the line (from 1) of a place, or of the nearest thing around it."""
        node, line = self.node, 1
        for key in place:
            found, at = _child(node, key)
            if found is None:
                break
            node, line = found, at
        return line


def load_yaml(model: type[Model], path: Path, what: str) -> Model:
    """Read and validate a YAML file.

    Raises:
        UsageError: It cannot be used; every problem is named with its line and field, what was
            found and what is allowed.
    """
    file = YamlFile.read(path, what)
    try:
        return model.model_validate(file.data)
    except ValidationError as error:
        problems = [_problem(file, model, detail) for detail in error.errors(include_url=False)]
        raise UsageError(f"The {what} {path} cannot be used. {' '.join(problems)}") from error


def explain(detail: ErrorDetails) -> str:
    """Say what was found at one place and what is allowed there."""
    kind, found = detail["type"], detail["input"]
    if kind == "missing":
        return "this field is missing"
    shown = repr(found) if isinstance(found, (str, int, float, bool)) else type(found).__name__
    message = detail["msg"]
    return f"found {shown}; {message[0].lower()}{message[1:]}"


def _problem(file: YamlFile, model: type[BaseModel], detail: ErrorDetails) -> str:
    place = detail["loc"]
    said = _unknown_field(model, place) if detail["type"] == "extra_forbidden" else explain(detail)
    where = ".".join(str(part) for part in place) or "the file"
    return f"Line {file.line(place)}, {where}: {said}."


def _unknown_field(model: type[BaseModel], place: Place) -> str:
    """Say which fields there are instead, the most similar one first."""
    known = sorted(_fields_at(model, place[:-1]))
    near = difflib.get_close_matches(str(place[-1]), known, n=1)
    meant = f"; did you mean '{near[0]}'" if near else ""
    return f"no such field{meant}; allowed: {', '.join(known)}" if known else "no such field"


def _fields_at(model: type[BaseModel], place: Place) -> Sequence[str]:
    """Return the field names of the model found by following a place from the root."""
    current: Any = model
    for key in place:
        models = _models_in(current)
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(str(key))
            current = field.annotation if field else None
        elif models:
            current = models[0]
    models = _models_in(current)
    return list(models[0].model_fields) if models else []


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in typing.get_args(annotation) for found in _models_in(part)]


def _child(node: yaml.Node, key: str | int) -> tuple[yaml.Node | None, int]:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return value, name.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key].start_mark.line + 1
    return None, 0


def _flat(error: yaml.YAMLError) -> str:
    return " ".join(str(error).split())
