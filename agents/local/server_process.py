"""The process in which the model runs; `server.LocalServer` starts it and it dies with its parent.

Not for people: `cotune model serve` is.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xllamacpp

from .client import HOST

_llama: Any = xllamacpp  # compiled, without type stubs

CACHE_MIB = 1024
"""Memory for the states of prompts that left their slot. It is what makes a few slots serve many
agents: without it, each change of agent reads that agent's whole prompt again."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the parent process ends or this one is terminated."""
    options = _parse(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the parent decides
    threading.Thread(target=_exit_when_stdin_closes, daemon=True).start()
    try:
        server = _llama.Server(_parameters(options))
    except RuntimeError as error:  # llama.cpp has logged the reason
        sys.exit(str(error))
    print(f"listening on {server.listening_address}", flush=True)
    while os.getppid() == options.parent:
        time.sleep(1.0)
    os._exit(0)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, type=Path, help="the GGUF file")
    parser.add_argument("--name", required=True, help="the name the server gives the model")
    parser.add_argument("--port", required=True, type=int)
    parser.add_argument("--slots", required=True, type=int, help="requests served at once")
    parser.add_argument("--context", required=True, type=int, help="tokens per slot")
    parser.add_argument("--parent", required=True, type=int, help="the process to die with")
    return parser.parse_args(arguments)


def _parameters(options: argparse.Namespace) -> Any:
    parameters = _llama.CommonParams()
    parameters.model.path = str(options.model)
    parameters.model_alias = {options.name}
    parameters.hostnames = [HOST]
    parameters.port = options.port
    parameters.cors_origins = f"http://{HOST}:{options.port}"  # no web page may use the model
    parameters.ui = False
    parameters.verbosity = 1  # errors only
    parameters.n_parallel = options.slots
    parameters.n_ctx = options.slots * options.context
    parameters.cache_prompt = True
    parameters.cache_ram_mib = CACHE_MIB
    threads = _physical_cores()
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    return parameters


def _physical_cores() -> int:
    """Count the cores this process may use, two hyper-threads as one; -1 lets llama.cpp count."""
    if sys.platform != "linux":
        return -1
    return len({_siblings(cpu) for cpu in os.sched_getaffinity(0)})


def _siblings(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return topology.read_text(encoding="ascii").strip()
    except OSError:
        return str(cpu)


def _exit_when_stdin_closes() -> None:
    """End at once when the parent is gone, however it died: its end of the pipe closes with it."""
    while os.read(0, 1024):  # not sys.stdin, whose lock would block an ordinary exit
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
