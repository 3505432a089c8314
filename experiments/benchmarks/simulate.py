"""What simulating costs: throughput and CPU time, against what others do with the same work.

Run it with `python -m cotune.experiments.benchmarks.simulate`, and with `--json` for the numbers
alone. Conversations of four turns with two agent calls a turn are held in four ways, see `ways`,
in one process, one way after the other. The models are a server of ours in a process of its own,
which answers after a set time.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from .openai_server import served_by, server_process
from .pair_assistant import CALLS
from .ways import Way, by_bare_calls, by_cotune, by_mlflow, by_thread_pool


@dataclass(frozen=True, slots=True)
class Load:
    """What a server is asked for.

    Attributes:
        concurrency: Conversations at a time, each with one call in flight.
        latency: Seconds the server takes for an answer.
    """

    concurrency: int
    latency: float

    @property
    def ideal(self) -> float:
        """Calls per second if nothing but the server took time."""
        return self.concurrency / self.latency


@dataclass(frozen=True, slots=True)
class Measured:
    """One way under one load.

    Attributes:
        way: Its name.
        load: What the server was asked for.
        conversations: How many were held.
        calls: Agent calls that were made.
        requests: Requests that the server got, those beside the agents' calls included.
        seconds: Wall time.
        share_of_ideal: Agent calls per second as a share of `Load.ideal`, 0 to 1.
        cpu_ms_per_call: CPU time of this process for an agent call, in milliseconds.
        cores: Cores this process kept busy.
        server_cores: Cores the server kept busy; near 1 it is the server that is measured.
    """

    way: str
    load: Load
    conversations: int
    calls: int
    requests: int
    seconds: float
    share_of_ideal: float
    cpu_ms_per_call: float
    cores: float
    server_cores: float


COTUNE, BARE, THREADS, MLFLOW = "cotune", "dspy.LM.acall", "thread pool", "mlflow"
WAYS: dict[str, Way] = {
    COTUNE: by_cotune,
    BARE: by_bare_calls,
    THREADS: by_thread_pool,
    MLFLOW: by_mlflow,
}
# Conversations by each way, in multiples of the concurrency.
PLAN: Mapping[Load, Mapping[str, int]] = {
    Load(16, 0.2): {COTUNE: 6, BARE: 6, THREADS: 6},
    Load(64, 0.1): {COTUNE: 12, BARE: 12, THREADS: 12},
    Load(64, 0.05): {COTUNE: 12, BARE: 12, THREADS: 12},
    Load(64, 0.2): {COTUNE: 12, BARE: 12, THREADS: 12, MLFLOW: 1},  # MLflow last: its threads stay
}


def measure(name: str, load: Load, rounds: int) -> Measured:
    """Hold conversations in one way, after some that are not counted.

    Raises:
        RuntimeError: Some calls were not made: the way lost conversations on the quiet.
    """
    conversations = rounds * load.concurrency
    with (
        server_process(load.latency) as address,
        WAYS[name](address, load.concurrency) as hold,
    ):
        hold(conversations // 6 + 1)  # imports, connections, a database
        before, cpu, started = served_by(address), time.process_time(), time.perf_counter()
        hold(conversations)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        served = served_by(address) - before
    calls = CALLS * conversations
    if served.requests < calls:
        raise RuntimeError(f"{name} made {served.requests} calls, and it should have made {calls}.")
    return Measured(
        way=name,
        load=load,
        conversations=conversations,
        calls=calls,
        requests=served.requests,
        seconds=seconds,
        share_of_ideal=calls / seconds / load.ideal,
        cpu_ms_per_call=cpu / calls * 1000,
        cores=cpu / seconds,
        server_cores=served.cpu_seconds / seconds,
    )


def table(measured: Sequence[Measured]) -> Table:
    """Lay the numbers out; CPU time above that of bare calls is what a way adds to dspy."""
    title = f"{CALLS} agent calls a conversation; {os.cpu_count()} cores"
    laid = Table(title=title, box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    laid.add_column("way", no_wrap=True)
    for heading in ("held", "calls/s", "of ideal", "CPU/call", "vs bare", "cores", "server"):
        laid.add_column(heading, justify="right", no_wrap=True)
    bare = {row.load: row.cpu_ms_per_call for row in measured if row.way == BARE}
    for load, rows in groupby(measured, lambda row: row.load):
        laid.add_row(f"[bold]{load.concurrency} × {load.latency * 1000:.0f} ms")
        for row in rows:
            above = row.cpu_ms_per_call - bare[load]
            laid.add_row(
                row.way,
                f"{row.conversations}",
                f"{row.calls / row.seconds:.0f}",
                f"{row.share_of_ideal:.1%}",
                f"{row.cpu_ms_per_call:.2f} ms",
                "" if row.way == BARE else f"{above:+.2f} ms",
                f"{row.cores:.2f}",
                f"{row.server_cores:.2f}",
            )
    return laid


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    as_json = parser.parse_args().json
    measured = [
        measure(name, load, rounds) for load, ways in PLAN.items() for name, rounds in ways.items()
    ]
    if as_json:
        print(json.dumps({"cores": os.cpu_count(), "measured": [asdict(row) for row in measured]}))
    else:
        Console().print(table(measured))


if __name__ == "__main__":
    main()
