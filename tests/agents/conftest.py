"""The embedded model for tests that need the real one; the only place that looks for it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from cotune.agents.local.catalog import catalog
from cotune.agents.local.server import LocalServer
from cotune.agents.local.store import find_model


@pytest.fixture(scope="session")
def local_model_name() -> str:
    """The best embedded model that is on this computer; the test is skipped without one."""
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: pip install 'cotune[local]'")
    for name in catalog():
        if find_model(name) is not None:
            return name
    pytest.skip(f"no embedded model on this computer: cotune model pull {next(iter(catalog()))}")


@pytest.fixture(scope="session")
def local_server(local_model_name: str) -> Iterator[LocalServer]:
    """A running server for it, shared by all tests of the session."""
    with LocalServer.of(local_model_name) as server:
        yield server
