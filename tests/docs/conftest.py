"""A process for commands, and the folder in which the tutorial ends, made once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..forked_commands import Commands
from .page_run import Reader
from .pages import DOCS, Page


@pytest.fixture(scope="session")
def tutorial(
    forked: Commands, mlflow_tables: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """Somebody who has followed the tutorial to its end."""
    reader = Reader(forked, tmp_path_factory.mktemp("tutorial") / "page", mlflow_tables)
    reader.folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        reader.environment["MODEL_PORT"] = str(free.getsockname()[1])
    try:
        reader.follow(Page.read(DOCS / "tutorial.md"))
        yield reader
    finally:
        reader.stop()
