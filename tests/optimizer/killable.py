"""A process that forks one run per line it reads, so that runs can be killed at no great cost.

It reads paths of journals and writes JSON lines: `["pid", number]` when a run begins, `["call",
key]` for every model call with the journal key it is charged to, `["end", outcome]` when a run
ends by itself, and `["gone", status]` in any case.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from dspy.lm15 import Request, Response
from tasks import Model, outcome  # beside this file, which is run as a script

from cotune.agents.ledger import Role, current_attribution
from cotune.agents.lm import LanguageModel
from cotune.optimizer.proposers.reflection import ReflectionProposer

MODEL = "scripted:grocery?noise=0.1&rate_limit=0.02&latency_ms=10"


class Reporting(LanguageModel):
    """A model that says what it is asked."""

    async def respond(self, request: Request) -> Response:
        say("call", current_attribution().key)
        return await super().respond(request)


def say(kind: str, content: object) -> None:
    print(json.dumps([kind, content]), flush=True)


def play(journal: Path) -> None:
    run = Model(MODEL, kind=Reporting).run(
        journal,
        lambda model, opened: ReflectionProposer(model.lm(Role.REFLECTION), opened, model.ledger),
    )
    say("end", outcome(asyncio.run(run)))


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
