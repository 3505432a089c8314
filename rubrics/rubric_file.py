"""Rubric files: a rubric as a YAML file of yours or as a pack that comes with cotune."""

from __future__ import annotations

from pathlib import Path

from ..agents.errors import UsageError
from ..agents.yaml_file import load_yaml
from .checks.registry import seek_checks_in
from .rubric import Rubric

STARTER = Path(__file__).with_name("starter.yaml")
_PACKS = Path(__file__).parent / "packs"


def pack_names() -> tuple[str, ...]:
    """Return the names of the rubrics that come with cotune."""
    return tuple(sorted(path.stem for path in _PACKS.glob("*.yaml")))


def load_rubric(source: str | Path) -> Rubric:
    """Read a rubric: a pack by name (`magic`), or a YAML file by path.

    A file that names a check of its own (`package.module:function`) makes cotune import it; it may
    stand beside the file.

    Raises:
        UsageError: There is no such file, or it is not a rubric; every problem is named.
    """
    path = rubric_path(source)
    seek_checks_in(path.parent)
    return load_yaml(Rubric, path, "rubric")


def rubric_path(source: str | Path) -> Path:
    """Return the file of a rubric: a pack by name, or a YAML file by path.

    Raises:
        UsageError: There is no such file.
    """
    packs = pack_names()
    path = _PACKS / f"{source}.yaml" if source in packs else Path(source)
    if not path.is_file():
        raise UsageError(
            f"There is no rubric {source}. Give the path of a YAML file or the name of a pack: "
            f"{', '.join(packs)}."
        )
    return path
