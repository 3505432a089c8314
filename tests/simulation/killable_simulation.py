"""Simulations that can be killed; see `forking.py`. The paths are of journals."""

from __future__ import annotations

import asyncio
from pathlib import Path

from forking import Answering, fork_for_each_line  # this file is run as a script
from shop_runs import FAULTS, ShopRun  # beside it

from cotune.agents import connect as connect_module
from cotune.agents.fingerprint import fingerprint
from cotune.simulation.engines.in_process import InProcess
from cotune.simulation.journal import Journal
from cotune.simulation.trajectory_json import trajectory_to_json

COUNT = 10
CONCURRENCY = 4


def play(path: Path) -> str:
    """Return the fingerprint of the trajectories."""
    connect_module.LanguageModel = Answering
    run = ShopRun(COUNT, f"{FAULTS}&latency_ms=1")
    with Journal(path) as journal:
        simulator = run.simulator(journal, InProcess(run.player, CONCURRENCY))
        asyncio.run(simulator.run(run.work))
        trajectories = run.trajectories(simulator)
    return fingerprint([trajectory_to_json(one) for one in trajectories])


if __name__ == "__main__":
    fork_for_each_line(play)
