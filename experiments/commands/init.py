"""`cotune init`: a folder to start from."""

from __future__ import annotations

import shutil
from pathlib import Path

import typer

from ...agents.errors import CotuneError, UsageError
from ...agents.grocery.assistant import PROMPTS
from .starter import STARTER, SYSTEM_STARTER

_GROCERY = PROMPTS.parent


def run(folder: Path) -> None:
    """Run the command; see `cotune init --help`.

    Raises:
        UsageError: The folder holds one of the things to be written already.
        CotuneError: The folder cannot be written.
    """
    target, system = folder / STARTER.name, folder / SYSTEM_STARTER.name
    for path in (target, system, folder / "examples", folder / "prompts"):
        if path.exists():
            raise UsageError(f"{path} exists already and is not overwritten; name another folder.")
    try:
        shutil.copytree(_GROCERY / "examples", folder / "examples")
        shutil.copytree(_GROCERY / "prompts", folder / "prompts")
        shutil.copyfile(STARTER, target)
        shutil.copyfile(SYSTEM_STARTER, system)
    except OSError as error:
        raise CotuneError(f"The folder {folder} cannot be written: {error}.") from error
    typer.echo(
        f"Wrote {target}, {system.name}, prompts/ and examples/. Look through the configurations, "
        "then:\n"
        f"  cd {folder}\n"
        "  cotune optimize agent router --config cotune.yaml --model scripted   # a simulation\n"
        "  cotune optimize agent router --config cotune.yaml                    # a real model\n"
        "  cotune optimize system --config system.yaml --model scripted         # all agents"
    )
