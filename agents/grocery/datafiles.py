"""Reading data files so that every complaint about them names the file and the line."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from ..errors import UsageError

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of a data file that knows where it stands.

    Attributes:
        path: The file.
        line: The entry's first line, from 1.
        value: Its content, JSON values.
        node: The YAML node, for the lines of its fields; None for a line of JSON.
    """

    path: Path
    line: int
    value: Any
    node: yaml.Node | None = None

    def where(self, *field: Hashable) -> str:
        """Say where a field of the entry stands: file and line."""
        line = self.line if self.node is None else _line_of(self.node, field)
        return f"{self.path}, line {line}"

    def parse(self, model: type[_Model]) -> _Model:
        """Read the entry as `model`.

        Raises:
            UsageError: It is not one; names the file, line and field, and what was found.
        """
        try:
            return model.model_validate(self.value)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "the entry"
            found = "" if first["type"] == "missing" else f" (found {first['input']!r:.80})"
            raise UsageError(
                f"{self.where(*first['loc'])}: {field}: {first['msg']}{found}."
            ) from error


def read_jsonl(path: Path) -> Iterator[Record]:
    """Yield the objects of a JSONL file; blank lines are skipped.

    Raises:
        UsageError: The file cannot be read, or a line is not JSON.
    """
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield Record(path, number, json.loads(line))
        except json.JSONDecodeError as error:
            raise UsageError(f"{path}, line {number}: not valid JSON: {error.msg}.") from error


def read_yaml_list(path: Path) -> Iterator[Record]:
    """Yield the entries of a YAML file that holds one list.

    Raises:
        UsageError: The file cannot be read, is not a YAML list, or repeats a key.
    """
    loader = yaml.SafeLoader(_text(path))
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.SequenceNode):
            raise UsageError(f"{path}, line 1: expected a list of entries, each starting '- id:'.")
        _refuse_repeated_keys(path, node)
        values = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{path}, line {line}: not valid YAML: {error.problem}.") from error
    finally:
        loader.dispose()
    for entry, value in zip(node.value, values, strict=True):
        yield Record(path, entry.start_mark.line + 1, value, entry)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error


def _line_of(node: yaml.Node, field: tuple[Hashable, ...]) -> int:
    line = node.start_mark.line + 1
    for part in field:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            entry = next((pair for pair in node.value if pair[0].value == part), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line + 1, entry[1]
    return line


def _refuse_repeated_keys(path: Path, node: yaml.Node) -> None:
    """YAML would silently keep the last of two; here the second is an error."""
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _refuse_repeated_keys(path, child)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, child in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise UsageError(f"{path}, line {line}: '{key.value}' is given twice; keep one.")
            seen.add(key.value)
            _refuse_repeated_keys(path, child)
