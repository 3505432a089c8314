"""Lint: everything that is wrong with a rubric file, not only what stops it first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..agents.errors import UsageError
from ..agents.problem import Problem, problems_of
from ..agents.yaml_file import YamlFile
from .checks.registry import seek_checks_in
from .consistency import (
    agent_problems,
    criterion_problems,
    empty_domain_problems,
    repeated_id_problems,
    weight_problems,
)
from .criterion import Criterion, Domain
from .rubric import Rubric
from .subject import SubjectKind

_Part = TypeVar("_Part", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong with a rubric file.

    Attributes:
        line: Where, from 1.
        place: The field, as a person would name it.
        message: What was found, and what is allowed.
    """

    line: int
    place: str
    message: str


def lint(path: Path, agents: Sequence[str] | None = None) -> tuple[Complaint, ...]:
    """Return all that is wrong with a rubric file, in the file's order; nothing when it is sound.

    Args:
        path: The file.
        agents: The names of the assistant's agents; None when they are not known.

    Raises:
        UsageError: It cannot be read, or is not YAML.
    """
    seek_checks_in(path.parent)
    file = YamlFile.read(path, "rubric")
    if not isinstance(file.data, dict):
        found = "nothing" if file.data is None else type(file.data).__name__
        raise UsageError(f"The rubric {path} must be a mapping with id, name, …; found {found}.")
    problems = dict.fromkeys(_problems(file.data, agents))
    complaints = [Complaint(file.line(at), file.name(at), said) for at, said in problems]
    return tuple(sorted(complaints, key=lambda complaint: complaint.line))


def _problems(data: dict[str, Any], agents: Sequence[str] | None) -> Iterator[Problem]:
    criteria = _readable(Criterion, data.get("criteria"))
    try:
        Rubric.model_validate(data)
    except ValidationError as error:
        yield from problems_of(error, Rubric)
        # Pydantic looks at the whole only when every part is sound.
        yield from _inconsistencies(data, criteria)
    if agents is not None:
        yield from agent_problems([criterion for _, criterion in criteria], agents)


def _inconsistencies(
    data: dict[str, Any], criteria: Sequence[tuple[int, Criterion]]
) -> Iterator[Problem]:
    """Yield what does not go together in those parts of a broken file that can be read."""
    domains = _readable(Domain, data.get("domains"))
    all_domains = len(domains) == len(_entries(data.get("domains")))
    all_criteria = len(criteria) == len(_entries(data.get("criteria")))
    for section in ("domains", "criteria"):
        yield from repeated_id_problems(section, _ids(data.get(section)))
    if domains and all_domains:
        yield from weight_problems([domain for _, domain in domains])
    if all_criteria:
        yield from empty_domain_problems(domains, [criterion for _, criterion in criteria])
    known = [id_ for _, id_ in _ids(data.get("domains"))]
    kind = data.get("subject")
    yield from criterion_problems(
        criteria, known, SubjectKind(kind) if kind in list(SubjectKind) else None
    )


def _readable(model: type[_Part], section: Any) -> list[tuple[int, _Part]]:
    readable: list[tuple[int, _Part]] = []
    for index, entry in enumerate(_entries(section)):
        try:
            readable.append((index, model.model_validate(entry)))
        except ValidationError:
            continue
    return readable


def _entries(section: Any) -> list[Any]:
    return section if isinstance(section, list) else []


def _ids(section: Any) -> list[tuple[int, str]]:
    return [
        (index, entry["id"])
        for index, entry in enumerate(_entries(section))
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    ]
