"""A process that forks one run of the system task per line it reads, so that it can be killed.

It reads paths of configurations and writes JSON lines: `["pid", number]` when a run begins,
`["call", key]` for every answer that is paid for, with the journal key it is charged to,
`["end", record]` when one ends by itself, and `["gone", status]` in any case.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from dspy.lm15 import Request, Response

from cotune.agents import connect as connect_module
from cotune.agents.ledger import Ledger, current_attribution
from cotune.agents.lm import LanguageModel
from cotune.experiments.chronicle import Chronicle
from cotune.experiments.config import load_config
from cotune.experiments.run_record import record_of
from cotune.experiments.system_run import SystemRun


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
    run = SystemRun.prepare(load_config(path), (), "killable")
    ledger = Ledger()
    chronicle = Chronicle(ledger)
    with run.journal() as journal:
        finished = run.execute(journal, ledger, chronicle, lambda survey: True)
    record = record_of(finished.result, run.about, chronicle)
    say("end", record.model_dump(mode="json", exclude={"invocation", "config"}))


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
