"""The sample service in Node.js, run for a test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[3] / "docs" / "examples" / "http-node" / "server.mjs"


@contextmanager
def node_shop(model_url: str, script: Path = SERVER) -> Iterator[str]:
    """Run it with a model at some address; yields the service's own."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("the sample service needs Node.js: there is no `node` on the path")
    environment = {**os.environ, "OPENAI_BASE_URL": model_url, "PORT": "0", "REVISION": "r1"}
    process = subprocess.Popen(
        [node, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    )
    with process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
