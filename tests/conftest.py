"""What every test runs under, and what takes too long to be made for each."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from .forked_commands import Commands, command_server


def _set_aside() -> None:
    """Collect the garbage, and have no later collection go through what is left.

    Hypothesis, statsmodels and we collect garbage again and again, and each time all that a long
    process has imported would be gone through: near a second towards the end of the suite.
    """
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    """Set aside what the files of tests import."""
    _set_aside()


@pytest.fixture(scope="module", autouse=True)
def _heap() -> Iterator[None]:
    """Set aside what a file's tests have imported and left."""
    yield
    _set_aside()


@pytest.fixture(scope="session")
def mlflow_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with MLflow's tables, to be copied: MLflow takes seconds to make them."""
    from cotune.experiments.mlflow_access import connected

    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    connected(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture(scope="session")
def forked() -> Iterator[Commands]:
    """What types commands in processes of their own; see `forked_commands.py`."""
    with command_server() as found:
        yield found
