"""Scenario files: JSONL with a scenario a line, or YAML with a list of them, and packs by name."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ..agents.data_file import Record, read_yaml_list
from ..agents.errors import UsageError
from ..agents.problem import Place, problems_of
from ..agents.problem_words import json_in_words
from ..agents.text_file import read_text
from ..agents.yaml_file import line_of
from .scenario import Scenario

PACKS: Mapping[str, Path] = {"grocery": Path(__file__).parent / "grocery" / "scenarios.jsonl"}
"""The scenarios that come with cotune, by name."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """What is wrong in a scenario file.

    Attributes:
        line: From 1.
        field: Such as `errands.0.quantity`; empty when the whole entry is meant.
        said: What was found, and what is allowed.
    """

    line: int
    field: str
    said: str

    def __str__(self) -> str:
        """Say it in one sentence."""
        return f"line {self.line}: {self.field or 'the entry'}: {self.said}"


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """What was found in a scenario file.

    Attributes:
        path: The file.
        scenarios: Those that are sound, in the order of the file.
        problems: Everything that is wrong, by line.
    """

    path: Path
    scenarios: tuple[Scenario, ...]
    problems: tuple[FileProblem, ...]


def load_scenarios(source: str | Path) -> tuple[Scenario, ...]:
    """Return the scenarios of a pack or a file.

    Args:
        source: The name of a pack, such as `grocery`, or a `.jsonl`, `.yaml` or `.yml` file.

    Raises:
        UsageError: There is no such pack or file, it holds no scenario, or something in it is
            wrong; names the file, line and field, what was found, and what to do.
    """
    file = check_scenarios(source)
    if file.problems:
        first, *others = file.problems
        more = f" More problems: {len(others)}." if others else ""
        raise UsageError(
            f"{file.path}, {first}.{more} 'cotune scenarios validate {source}' lists them all."
        )
    return file.scenarios


def check_scenarios(source: str | Path) -> ScenarioFile:
    """Read a pack or a file to the end, whatever is wrong with its scenarios.

    Raises:
        UsageError: There is no such pack or file, it cannot be read, or it has no entry.
    """
    path = scenario_path(source)
    scenarios: dict[str, tuple[int, Scenario]] = {}
    problems: list[FileProblem] = []
    empty = True
    for entry in _entries(path):
        empty = False
        if isinstance(entry, FileProblem):
            problems.append(entry)
            continue
        scenario, wrong = _parse(entry)
        problems += wrong
        if scenario is None:
            continue
        line = _line(entry, ("id",))
        if scenario.id in scenarios:
            first, _ = scenarios[scenario.id]
            said = f"'{scenario.id}' is taken (line {first}); give each scenario its own id"
            problems.append(FileProblem(line, "id", said))
        else:
            scenarios[scenario.id] = (line, scenario)
    if empty:
        raise UsageError(f"{path} holds no scenario. Write one a line, or a YAML list of them.")
    return ScenarioFile(path, tuple(one for _, one in scenarios.values()), tuple(problems))


def scenario_path(source: str | Path) -> Path:
    """Return the file of a pack, or the file itself.

    Raises:
        UsageError: It is neither, or not of a kind that holds scenarios.
    """
    path = PACKS.get(str(source), Path(source))
    if not path.is_file():
        near = difflib.get_close_matches(str(source), PACKS, n=1)
        meant = f" Did you mean the pack '{near[0]}'?" if near else ""
        raise UsageError(
            f"There is no scenario file '{source}'.{meant} Give a .jsonl or .yaml file, or the "
            f"name of a pack: {', '.join(PACKS)}."
        )
    if path.suffix not in (".jsonl", ".yaml", ".yml"):
        raise UsageError(
            f"{path}: scenarios are read from .jsonl (one a line) and .yaml (a list), and this "
            f"file ends in '{path.suffix}'. Rename it, or convert it."
        )
    return path


def write_scenarios(path: Path, scenarios: Sequence[Scenario]) -> None:
    """Write a JSONL file; fields that have their default value are left out."""
    lines = (json.dumps(compact(one), ensure_ascii=False) + "\n" for one in scenarios)
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def compact(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as a file has it: JSON values, without what says nothing."""
    return _compact(scenario)


def _entries(path: Path) -> Iterator[Record | FileProblem]:
    if path.suffix != ".jsonl":
        yield from read_yaml_list(path)
        return
    # Not `splitlines`, which would also split at line separators inside a JSON string.
    for number, line in enumerate(read_text(path, "scenario file").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield Record(path, number, json.loads(line))
        except (ValueError, RecursionError) as error:
            yield FileProblem(number, "", f"the line is not valid JSON: {json_in_words(error)}")


def _parse(entry: Record) -> tuple[Scenario | None, list[FileProblem]]:
    try:
        return Scenario.model_validate(entry.value), []
    except ValidationError as error:
        found = problems_of(error, Scenario)
        return None, [
            FileProblem(_line(entry, at), ".".join(map(str, at)), said) for at, said in found
        ]


def _line(entry: Record, place: Place) -> int:
    return entry.line if entry.node is None else line_of(entry.node, place)


def _compact(value: Any) -> Any:
    """Return JSON values in which fields with their default value are left out."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {
            name: _compact(part)
            for name, part in value
            if name == "kind" or part != fields[name].get_default(call_default_factory=True)
        }
    if isinstance(value, (list, tuple)):
        return [_compact(part) for part in value]
    return value
