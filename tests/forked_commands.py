"""Commands in processes of their own that have imported what is heavy before they begin."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("command_server.py")


@dataclass
class Commands:
    """The process that commands are forked from; see `command_server.py`."""

    process: subprocess.Popen[str]

    def run(self, output: Path, **asked: Any) -> tuple[int, str]:
        """Run one thing; returns its exit code and all that it printed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps({**asked, "output": str(output)}), file=self.process.stdin, flush=True)
        code = int(self.process.stdout.readline())
        return code, output.read_text(encoding="utf-8")


@contextmanager
def command_server() -> Iterator[Commands]:
    """Start the process that commands are forked from."""
    with subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Commands(process)
        assert process.stdin is not None
        process.stdin.close()
