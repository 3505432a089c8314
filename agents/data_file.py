"""Data files, entry by entry, so that every complaint names the file and the line."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from .errors import UsageError
from .problem import problems_of
from .problem_words import json_in_words
from .text_file import read_text
from .yaml_file import YamlFile, line_of

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
        line = self.line if self.node is None else line_of(self.node, field)
        return f"{self.path}, line {line}"

    def parse(self, model: type[_Model]) -> _Model:
        """Read the entry as `model`.

        Raises:
            UsageError: It is not one; names the file, line and field, and what was found.
        """
        try:
            return model.model_validate(self.value)
        except ValidationError as error:
            place, said = next(problems_of(error, model))
            whole = "the line" if self.node is None else "the entry"
            field = ".".join(str(part) for part in place) or whole
            raise UsageError(f"{self.where(*place)}: {field}: {said}.") from error


def read_jsonl(path: Path) -> Iterator[Record]:
    """Yield the entries of a JSONL file; blank lines are skipped.

    Raises:
        UsageError: The file cannot be read, or a line is not JSON.
    """
    # Not `splitlines`, which would also split at line separators inside a JSON string.
    for number, line in enumerate(read_text(path, "data file").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            said = json_in_words(error)
            raise UsageError(
                f"{path}, line {number}: the line is not valid JSON: {said}."
            ) from error
        yield Record(path, number, value)


def read_yaml_list(path: Path) -> Iterator[Record]:
    """Yield the entries of a YAML file that holds one list.

    Raises:
        UsageError: The file cannot be read, repeats a key, or is neither a YAML list nor empty.
    """
    file = YamlFile.read(path, "data file")
    if file.node is None:
        return
    if not isinstance(file.node, yaml.SequenceNode):
        raise UsageError(f"{path}, line 1: expected a list of entries, each starting '- id:'.")
    for entry, value in zip(file.node.value, file.data, strict=True):
        yield Record(path, entry.start_mark.line + 1, value, entry)
