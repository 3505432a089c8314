"""`cotune init`: a folder to start from."""

from __future__ import annotations

import shutil
from pathlib import Path

import typer

from ...agents.errors import CotuneError, UsageError
from ...agents.grocery.assistant import PROMPTS
from .starter import STARTER

_GROCERY = PROMPTS.parent


def run(folder: Path) -> None:
    """Run the command; see `cotune init --help`.

    Raises:
        UsageError: The folder holds one of the things to be written already.
        CotuneError: The folder cannot be written.
    """
    target = folder / STARTER.name
    for path in (target, folder / "examples", folder / "prompts"):
        if path.exists():
            raise UsageError(f"{path} exists already and is not overwritten; name another folder.")
    try:
        shutil.copytree(_GROCERY / "examples", folder / "examples")
        shutil.copytree(_GROCERY / "prompts", folder / "prompts")
        shutil.copyfile(STARTER, target)
    except OSError as error:
        raise CotuneError(f"The folder {folder} cannot be written: {error}.") from error
    typer.echo(
        f"Wrote {target}, prompts/ and examples/. Look through the configuration, then:\n"
        f"  cd {folder}\n"
        "  cotune optimize agent router --config cotune.yaml --model scripted   # a simulation\n"
        "  cotune optimize agent router --config cotune.yaml                    # a real model"
    )
