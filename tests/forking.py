"""The side of a process that forks a run per line it reads, so that it can be killed cheaply.

It reads paths and writes JSON lines: `["pid", number]` when a run begins, `["call", key]` for
calls with the journal key they are charged to, `["end", what came of it]` when a run ends by
itself, and `["gone", status]` in any case. The other side is `forked_runs.py`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from dspy.lm15 import Request, Response

from cotune.agents.ledger import current_attribution
from cotune.agents.lm import LanguageModel


def say(kind: str, content: object) -> None:
    print(json.dumps([kind, content]), flush=True)


class Answering(LanguageModel):
    """A model that says what it has answered, and so what is paid for."""

    async def _send(self, request: Request) -> Response:
        response = await super()._send(request)
        say("call", current_attribution().key)
        return response


def fork_for_each_line(play: Callable[[Path], object]) -> None:
    """Play what each line names in a process of its own, and say what came of it."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            say("end", play(Path(line.strip())))
            os._exit(0)
        say("pid", pid)
        say("gone", os.waitpid(pid, 0)[1])
