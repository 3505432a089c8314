"""What an install brings: every package and every data file of the layers, and nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
STUBS = ROOT / "experiments" / "starter"  # code that `cotune init` copies, no module of ours
LAYERS = ("agents", "simulation", "rubrics", "optimizer", "experiments")


@pytest.fixture(scope="module")
def setuptools() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return project["tool"]["setuptools"]


def test_every_package_is_listed(setuptools: dict[str, Any]) -> None:
    found = {
        ".".join(("cotune", *file.parent.relative_to(ROOT).parts))
        for layer in LAYERS
        for file in (ROOT / layer).rglob("__init__.py")
    }
    assert set(setuptools["packages"]) == {"cotune", *found}


def test_every_data_file_of_a_layer_is_installed(setuptools: dict[str, Any]) -> None:
    installed = {
        file
        for package, patterns in setuptools["package-data"].items()
        for pattern in patterns
        for file in ROOT.joinpath(*package.split(".")[1:]).glob(pattern)
        if file.is_file()
    }
    data = {
        file
        for layer in LAYERS
        for file in (ROOT / layer).rglob("*")
        if file.is_file() and (file.suffix not in (".py", ".pyc") or file.is_relative_to(STUBS))
    }
    assert installed == {*data, ROOT / "py.typed"}
