"""A process that forks one simulation per line it reads, so that it can be killed at no great cost.

It reads paths of journals and writes JSON lines: `["pid", number]` when a simulation begins,
`["call", key]` for every answer that is paid for, `["end", fingerprint of the trajectories]` when
one ends by itself, and `["gone", status]` in any case.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from dspy.lm15 import Request, Response
from shop_runs import FAULTS, ShopRun  # beside this file, which is run as a script

from cotune.agents import connect as connect_module
from cotune.agents.fingerprint import fingerprint
from cotune.agents.ledger import current_attribution
from cotune.agents.lm import LanguageModel
from cotune.simulation.engines.in_process import InProcess
from cotune.simulation.journal import Journal
from cotune.simulation.trajectory_json import trajectory_to_json

COUNT = 10
CONCURRENCY = 4


def say(kind: str, content: object) -> None:
    print(json.dumps([kind, content]), flush=True)


class Reporting(LanguageModel):
    """A model that says what it has answered."""

    async def _send(self, request: Request) -> Response:
        response = await super()._send(request)
        say("call", current_attribution().key)
        return response


def play(path: Path) -> None:
    connect_module.LanguageModel = Reporting
    run = ShopRun(COUNT, f"{FAULTS}&latency_ms=1")
    with Journal(path) as journal:
        simulator = run.simulator(journal, InProcess(run.player, CONCURRENCY))
        asyncio.run(simulator.run(run.work))
        trajectories = run.trajectories(simulator)
    say("end", fingerprint([trajectory_to_json(one) for one in trajectories]))


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            play(Path(line.strip()))
            os._exit(0)
        say("pid", pid)
        say("gone", os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    main()
