"""A team's own code: imported by its path, and identified by its text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import UsageError
from ..fingerprint import fingerprint
from .settings import ImportedSettings


def require_installed(module: str, package: str, kind: str) -> None:
    """Refuse an adapter whose framework is missing.

    Args:
        module: Of the framework, dotted.
        package: That brings it.
        kind: Of the adapter; cotune's extra has the same name.

    Raises:
        UsageError: The module is not there; the message says how to install it.
    """
    parent = module.partition(".")[0]
    if find_spec(parent) is None or find_spec(module) is None:
        raise UsageError(
            f"The adapter '{kind}' needs the package {package}: pip install 'cotune[{kind}]'."
        )


def imported(settings: ImportedSettings) -> Any:
    """Return what the assistant's `path` names; see `imported_at`."""
    return imported_at(settings, settings.path, "path")


def imported_at(settings: ImportedSettings, place: str, field: str) -> Any:
    """Return what `module:attribute` names; the module is sought in the assistant's folder first.

    Args:
        settings: Of the assistant.
        place: `module:attribute`.
        field: Of the settings that names it, for the message.

    Raises:
        UsageError: There is no such module or attribute, or importing it failed.
    """
    module_name, _, attribute = place.partition(":")
    folder = settings.folder.resolve()
    sys.path[:] = [str(folder), *(each for each in sys.path if each != str(folder))]
    _forget_namesake(module_name.partition(".")[0], folder)
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever a team's module raises on import
        raise UsageError(
            f"assistant.{field} is '{place}', and importing '{module_name}' from {folder} "
            f"failed: {type(error).__name__}: {error}"
        ) from error
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        raise UsageError(
            f"assistant.{field} is '{place}', and the module '{module_name}' "
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


def _forget_namesake(package: str, folder: Path) -> None:
    """Forget a module of that name from elsewhere that hides the one in the folder."""
    known = sys.modules.get(package)
    is_here = (folder / f"{package}.py").is_file() or (folder / package).is_dir()
    if known is None or not is_here or set(_files_of(known, folder)):
        return
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
        del sys.modules[name]


def _files_under(folder: Path) -> Iterator[Path]:
    for module in list(sys.modules.values()):
        if module is not None:
            yield from _files_of(module, folder)


def _files_of(module: ModuleType, folder: Path) -> Iterator[Path]:
    """Yield the file of a module that is in the folder."""
    file = vars(module).get("__file__")
    if file is not None and file.endswith(".py"):
        path = Path(file).resolve()
        if path.is_relative_to(folder) and "site-packages" not in path.parts:
            yield path
