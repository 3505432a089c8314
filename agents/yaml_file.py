"""YAML files read into pydantic models, with errors that point at file, line and field."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from .errors import UsageError
from .problem import Place, Problem, problems_of
from .problem_words import value_in_words
from .text_file import read_text

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class YamlFile:
    """The content of a YAML file that knows its lines.

    Attributes:
        path: Where it was read from.
        what: What it should be, for messages: 'configuration', 'rubric'.
        data: Its content.
        node: Its syntax tree, for line numbers; None for an empty file.
    """

    path: Path
    what: str
    data: Any
    node: yaml.Node | None

    @classmethod
    def read(cls, path: Path, what: str) -> YamlFile:
        """Read a file.

        Raises:
            UsageError: It cannot be read, is not YAML, or gives a key twice.
        """
        text = read_text(path, what)
        try:
            file = cls(path, what, yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader))
        except (yaml.YAMLError, ValueError, RecursionError) as error:  # such as 2024-13-45
            raise UsageError(f"The {what} {path} is not valid YAML{_reason(error)}.") from error
        for key in _repeated_keys(file.node):
            line = key.start_mark.line + 1
            raise UsageError(
                f"The {what} {path}, line {line}: '{key.value}' is given twice; keep one."
            )
        return file

    def line(self, place: Place) -> int:
        """Return the line (from 1) of a place, or of the nearest thing around it."""
        return 1 if self.node is None else line_of(self.node, place)

    def name(self, place: Place) -> str:
        """Name a place as a person would: keys, and the entries of a list by their id."""
        said, separator, here = "", "", self.data
        for number, part in enumerate(place, start=1):
            if isinstance(here, Mapping) and (part in here or number == len(place)):
                said += f"{separator}{part}"
                separator, here = ".", here.get(part)
            elif isinstance(here, Sequence) and isinstance(part, int):
                here = here[part]
                said += f" {_entry_name(here, part)}"
                separator = ", "
        return said or "the file"

    def refusal(self, problems: Iterable[Problem]) -> UsageError:
        """Return the error that names every problem with its line and field."""
        said = [f"Line {self.line(at)}, {self.name(at)}: {message}." for at, message in problems]
        return UsageError(f"The {self.what} {self.path} cannot be used. {' '.join(said)}")


def load_yaml(model: type[Model], path: Path, what: str) -> Model:
    """Read and validate a YAML file.

    Args:
        model: What it must hold.
        path: The file.
        what: What it should be, for messages: 'configuration', 'rubric'.

    Raises:
        UsageError: It cannot be used; every problem is named with its line and field, what was
            found and what is allowed.
    """
    file = YamlFile.read(path, what)
    if not isinstance(file.data, dict):
        found = value_in_words(file.data)
        fields = [name for name, field in model.model_fields.items() if field.is_required()]
        needed = f" with the field{'s' if len(fields) > 1 else ''} {', '.join(fields)}"
        raise UsageError(
            f"The {what} {path} must be a mapping{needed if fields else ''}; found {found}."
        )
    try:
        return model.model_validate(file.data)
    except ValidationError as error:
        raise file.refusal(problems_of(error, model)) from error


def line_of(node: yaml.Node, place: Iterable[Hashable]) -> int:
    """Return the line (from 1) of a place in a node, or of the nearest thing around it."""
    line = node.start_mark.line + 1
    for key in place:
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if name.value == str(key):
                    node, line = value, name.start_mark.line + 1
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            node = node.value[key]
            line = node.start_mark.line + 1
    return line


def _entry_name(entry: Any, index: int) -> str:
    name = entry.get("id") if isinstance(entry, Mapping) else None
    return f"entry {index + 1}" if name is None else f"'{name}'"


def _repeated_keys(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield keys given before in their mapping, of which YAML would silently keep the last."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:  # an alias leads back to its anchor
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys = set[str]()
            for key, value in node.value:
                if key.value in keys:
                    yield key
                if isinstance(key, yaml.ScalarNode):
                    keys.add(key.value)
                waiting.append(value)


def _reason(error: Exception) -> str:
    """Say where and why a text is not YAML."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f", line {error.problem_mark.line + 1}: {error.problem}"
    return f": {' '.join(str(error).split())}"
