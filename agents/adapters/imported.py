"""A team's own code: imported by its path, and identified by its text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..fingerprint import fingerprint
from .settings import ImportedSettings


def imported(settings: ImportedSettings) -> Any:
    """Return what `module:attribute` names; the module is sought in its folder first.

    Raises:
        UsageError: There is no such module or attribute, or importing it failed.
    """
    module_name, _, attribute = settings.path.partition(":")
    folder = str(settings.folder.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = import_module(module_name)
    except Exception as error:  # whatever a team's module raises while it is imported
        raise UsageError(
            f"assistant.path is '{settings.path}', and importing '{module_name}' from {folder} "
            f"failed: {type(error).__name__}: {error}"
        ) from error
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        raise UsageError(
            f"assistant.path is '{settings.path}', and the module '{module_name}' "
            f"({module.__file__}) has no '{attribute}'."
        ) from error


def code_identity(settings: ImportedSettings) -> str:
    """Return a fingerprint of the modules that were imported from the assistant's folder.

    Other code is another assistant: what was journaled with the old one is not read.
    """
    folder = settings.folder.resolve()
    texts = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(set(_files_under(folder)))
    }
    return fingerprint(texts, 32)


def _files_under(folder: Path) -> Iterator[Path]:
    for module in list(sys.modules.values()):
        file = vars(module).get("__file__") if module is not None else None
        if file is not None and file.endswith(".py"):
            path = Path(file).resolve()
            if path.is_relative_to(folder) and "site-packages" not in path.parts:
                yield path
