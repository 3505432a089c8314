"""`cotune init`: a folder to start from."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import typer

from ...agents.errors import CotuneError, UsageError
from ...agents.grocery.assistant import PROMPTS
from .starter import STARTER, SYSTEM_STARTER

_GROCERY = PROMPTS.parent


def run(folder: Path, framework: str | None, path: str | None) -> None:
    """Run the command; see `cotune init --help`.

    Args:
        folder: Where to write.
        framework: Of an assistant of one's own; the grocery assistant when absent.
        path: Where that assistant is; a small shop is written when absent.

    Raises:
        UsageError: The folder holds one of the things to be written already, the framework is
            unknown, or there is no such assistant.
        CotuneError: The folder cannot be written.
    """
    if framework is not None:
        _start_own(folder, framework, path)
    elif path is not None:
        raise UsageError("--path names an assistant of your own; say its framework with --from.")
    else:
        _start_grocery(folder)


def _start_grocery(folder: Path) -> None:
    target, system = folder / STARTER.name, folder / SYSTEM_STARTER.name
    _require_free([target, system, folder / "examples", folder / "prompts"])
    try:
        shutil.copytree(_GROCERY / "examples", folder / "examples")
        shutil.copytree(_GROCERY / "prompts", folder / "prompts")
        shutil.copyfile(STARTER, target)
        shutil.copyfile(SYSTEM_STARTER, system)
    except OSError as error:
        raise _unwritten(folder, error) from error
    typer.echo(
        f"Wrote {target}, {system.name}, prompts/ and examples/. Look through the configurations, "
        "then:\n"
        f"  cd {folder}\n"
        "  cotune optimize agent router --config cotune.yaml --model scripted   # a simulation\n"
        "  cotune optimize agent router --config cotune.yaml                    # a real model\n"
        "  cotune optimize system --config system.yaml --model scripted         # all agents"
    )


def _start_own(folder: Path, framework: str, path: str | None) -> None:
    from ..own_start import FRAMEWORKS, own, stub

    if framework not in FRAMEWORKS:
        raise UsageError(f"--from {framework}: known are {', '.join(FRAMEWORKS)}.")
    start = stub(framework) if path is None else own(framework, path, folder)
    tops = dict.fromkeys(Path(name).parts[0] for name in (*start.files, *start.folders))
    _require_free(folder / name for name in tops)
    try:
        for name, text in start.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        for name in start.folders:
            (folder / name).mkdir()
    except OSError as error:
        raise _unwritten(folder, error) from error
    typer.echo(f"Wrote {', '.join(tops)} into {folder}. {start.first}Then:\n{_steps(folder)}")


def _steps(folder: Path) -> str:
    return (
        f"  cd {folder}\n"
        "  cotune doctor --config cotune.yaml             # a few turns: is everything in place?\n"
        "  cotune simulate --config cotune.yaml --split train --n 3     # what do they look like?\n"
        "  cotune optimize system --config cotune.yaml    # up to a held-out result"
    )


def _require_free(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.exists():
            raise UsageError(f"{path} exists already and is not overwritten; name another folder.")


def _unwritten(folder: Path, error: OSError) -> CotuneError:
    return CotuneError(f"The folder {folder} cannot be written: {error}.")
