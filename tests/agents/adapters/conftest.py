"""Paths under which the tests of adapters run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).resolve().parent
_ROOT = Path(__file__).resolve().parents[3]

# `python -m pytest` puts the repository's root on the path, and there `agents` is a folder of
# ours, not the OpenAI Agents SDK.
sys.path[:] = [place for place in sys.path if Path(place).resolve() != _ROOT]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow frameworks to leave connections to the garbage collector, as they do."""
    left_open = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(left_open)
