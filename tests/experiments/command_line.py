"""The command line as a person types it, in this process or, to be killed, in one of its own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

import yaml

from cotune.experiments import cli
from cotune.experiments.run_record import RunRecord
from cotune.simulation.journal import Journal

_START = "import sys; from cotune.experiments.cli import main; sys.argv[0] = 'cotune'; main()"


@dataclass(frozen=True)
class Said:
    """What a command answered: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Standard output on one line, for sentences that a terminal would wrap."""
        return " ".join(self.out.split())


def cotune(*words: object) -> Said:
    """Type a command."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    argv = ["cotune", *map(str, words)]
    with (
        patch.object(sys, "argv", argv),
        patch.object(sys, "path", list(sys.path)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Said(code, out.getvalue(), err.getvalue())


def start(*words: object) -> subprocess.Popen[str]:
    """Type a command in a process of its own, to be killed or interrupted."""
    command = [sys.executable, "-c", _START, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run_folder(runs: Path) -> Path:
    """Return the folder of the only run."""
    (folder,) = runs.iterdir()
    return folder


def record(runs: Path) -> RunRecord:
    """Read the record of the only run."""
    return RunRecord.model_validate_json((run_folder(runs) / "result.json").read_text())


def paid(one: RunRecord) -> int:
    """Return how many calls this invocation paid for."""
    return sum(usage.calls for usage in one.usage) - one.invocation.replayed


def same(one: RunRecord) -> dict[str, Any]:
    """Return what must not differ between two invocations of a run."""
    return one.model_dump(exclude={"invocation"})


def journaled(runs: Path) -> int:
    """Count the rollouts in the journal of the only run."""
    with Journal(run_folder(runs) / "journal.sqlite") as journal:
        return journal.count("rollout")


def edit(path: Path, **changes: Any) -> None:
    """Set fields of a configuration, whole values at the top level."""
    content = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**content, **changes}, sort_keys=False))


@dataclass
class Endpoint:
    """A fake OpenAI-compatible server on this computer.

    Attributes:
        api_base: Where it is.
        requests: How many it was sent.
    """

    api_base: str
    requests: int = 0


@contextmanager
def endpoint(status: int, answer: Mapping[str, Any]) -> Iterator[Endpoint]:
    """Serve one answer to every request."""
    body = json.dumps(answer).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            served.requests += 1
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
