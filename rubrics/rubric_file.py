"""Rubric files: reading YAML into a rubric, with errors that point at the line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ..agents.errors import UsageError
from .rubric import Problem, Rubric

_PACKS = Path(__file__).parent / "packs"


def pack_names() -> tuple[str, ...]:
    """Return the names of the rubrics that come with cotune."""
    return tuple(sorted(path.stem for path in _PACKS.glob("*.yaml")))


def load_rubric(source: str | Path) -> Rubric:
    """Read a rubric: a pack by name (`magic`), or a YAML file by path.

    A file that names a check of its own (`package.module:function`) makes cotune import it.

    Raises:
        UsageError: There is no such file, or it is not a rubric; every problem is named.
    """
    path = _PACKS / f"{source}.yaml" if source in pack_names() else Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        packs = ", ".join(pack_names())
        raise UsageError(
            f"Cannot read the rubric {source}: {error}. "
            f"Give the path of a YAML file or the name of a pack: {packs}."
        ) from error
    return _parse(text, path)


def _parse(text: str, path: Path) -> Rubric:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"The rubric {path} is not valid YAML: {error}") from error
    if not isinstance(data, dict):
        found = type(data).__name__
        raise UsageError(
            f"The rubric {path} must be a mapping with 'id', 'domains' …; found {found}."
        )
    try:
        return Rubric.model_validate(data)
    except ValidationError as error:
        lines = [
            f"line {_line(node, at)}, {_place(data, at)}: {message}"
            for at, message in _problems(error)
        ]
        raise UsageError(f"The rubric {path} cannot be used. {'; '.join(lines)}.") from error


def _problems(error: ValidationError) -> Iterator[Problem]:
    for detail in error.errors():
        if detail["type"] == "rubric":
            yield from detail.get("ctx", {})["problems"]
        elif not _wrong_branch(detail["loc"], detail["input"]):
            yield detail["loc"], _explain(detail["type"], detail["msg"], detail["input"])


def _wrong_branch(at: tuple[str | int, ...], found: Any) -> bool:
    """Say whether pydantic tried tiers on a text, or `pass_fail` on a list."""
    if at[2:3] != ("scale",) or len(at) != 4:
        return False
    return str(at[3]).startswith("literal") != isinstance(found, str)


def _explain(kind: str, message: str, found: Any) -> str:
    if kind == "missing":
        return "this field is missing"
    if kind == "extra_forbidden":
        return "no such field"
    shown = repr(found) if isinstance(found, (str, int, float, bool)) else type(found).__name__
    return f"found {shown}; {message[0].lower()}{message[1:]}"


def _line(node: yaml.Node | None, at: tuple[str | int, ...]) -> int:
    """Return the line (from 1) of a place in the file, or of the nearest thing around it."""
    line = 1
    for key in at:
        found, line_of_key = _child(node, key)
        if found is None:
            break
        node, line = found, line_of_key
    return line


def _child(node: yaml.Node | None, key: str | int) -> tuple[yaml.Node | None, int]:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                return value, name.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key].start_mark.line + 1
    return None, 0


def _place(data: dict[str, Any], at: tuple[str | int, ...]) -> str:
    """Name a place as a person would: the id of the criterion rather than its index."""
    match at:
        case (("criteria" | "domains") as section, int(index), *rest):
            entry = data[section][index]
            name = entry.get("id", index) if isinstance(entry, dict) else index
            kind = "criterion" if section == "criteria" else "domain"
            return f"{kind} '{name}'" + "".join(f", {part}" for part in rest[:1])
        case ():
            return "the rubric"
        case _:
            return ", ".join(str(part) for part in at)
