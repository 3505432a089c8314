"""A local model server that lives exactly as long as it is needed."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Self

from ..errors import CotuneError, UsageError
from .catalog import get_model
from .client import HOST, served_model
from .store import require_model, weights_of

_STOP_SECONDS = 5.0
_LOG_TAIL = 1500


class LocalServer:
    """A llama.cpp server for one model, in a process of its own, on this computer only.

    Use it as a context manager. The process is stopped when the block ends, however it ends, and
    it watches its parent: after `kill -9` of this process nothing is left either. It speaks
    OpenAI's chat completions at `api_base`, with JSON schemas, logprobs and `timings`.

    Attributes:
        name: What the server calls the model; `openai/NAME` for an LM class.
        port: Where it listens on 127.0.0.1.
        slots: Requests served at once; give it no more than that at a time.
        weights: What identifies the file that is served.
    """

    def __init__(
        self,
        model_file: Path,
        *,
        name: str,
        slots: int,
        context: int,
        port: int | None = None,
        start_seconds: float = 120.0,
    ) -> None:
        """Prepare a server; nothing runs yet.

        Args:
            model_file: The GGUF file.
            name: What to call the model.
            slots: Requests served at once.
            context: Tokens of prompt and answer together, per slot.
            port: Where to listen; a free port by default.
            start_seconds: How long reading the model may take.
        """
        self.name = name
        self.slots = slots
        self.weights = ""
        self.port = port or _free_port()
        self._model_file = model_file
        self._context = context
        self._start_seconds = start_seconds
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def of(cls, name: str, *, slots: int | None = None, port: int | None = None) -> Self:
        """Prepare a server for a model of the catalog, with its defaults.

        Raises:
            UsageError: The name is unknown.
            CotuneError: The model's file is missing or damaged.
        """
        model = get_model(name)
        file = require_model(name)
        server = cls(file, name=name, slots=slots or model.slots, context=model.context, port=port)
        server.weights = weights_of(file, model)
        return server

    @property
    def api_base(self) -> str:
        """The base URL of its OpenAI-compatible API."""
        return f"http://{HOST}:{self.port}/v1"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            UsageError: The runtime is not installed, or the port is taken.
            CotuneError: The server ended or was not ready in time; with the end of its log.
        """
        if find_spec("xllamacpp") is None:
            raise UsageError(
                "The embedded model needs the package xllamacpp. Install it with "
                "`pip install 'cotune[local]'`, or use another model with "
                "`--model openai/NAME --api-base URL`."
            )
        if _is_taken(self.port):
            raise UsageError(f"Port {self.port} is taken by another program. Choose another port.")
        # A file without a name: it is gone when both processes are.
        with tempfile.TemporaryFile("a+b") as log:
            atexit.register(self.stop)
            try:
                self._process = self._launch(log)
                self._wait_until_ready(self._process, log)
            except BaseException:
                self.stop()
                raise

    def wait(self) -> None:
        """Block until the server ends."""
        if self._process is not None:
            self._process.wait()

    def stop(self) -> None:
        """Stop the server: ask, wait, then kill. Does nothing when it is not running."""
        process, self._process = self._process, None
        atexit.unregister(self.stop)
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:  # also when the person presses Ctrl-C again while we wait
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        # -P: a file of the current folder must not shadow a module of the server.
        command = [sys.executable, "-P", "-m", f"{__package__}.server_process"]
        command += ["--model", str(self._model_file), "--name", self.name]
        command += ["--port", str(self.port), "--slots", str(self.slots)]
        command += ["--context", str(self._context), "--parent", str(os.getpid())]
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,  # stays open as long as we live; the server watches it
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches us, and we decide
        )

    def _wait_until_ready(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        deadline = time.monotonic() + self._start_seconds
        while process.poll() is None:
            if served_model(self.port) == self.name:
                return
            if time.monotonic() > deadline:
                raise CotuneError(self._failure(f"not ready after {self._start_seconds:g} s", log))
            time.sleep(0.05)
        raise CotuneError(self._failure(f"it ended with code {process.returncode}", log))

    def _failure(self, what: str, log: IO[bytes]) -> str:
        log.seek(0)
        tail = log.read().decode(errors="replace").strip()[-_LOG_TAIL:]
        return (
            f"The server of the local model '{self.name}' did not start ({self._model_file}): "
            f"{what}. Its log ends:\n{tail or '(the log is empty)'}"
        )


def _is_taken(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex((HOST, port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]
