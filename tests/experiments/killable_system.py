"""Runs of the system task that can be killed; see `forking.py`. The paths are of configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forking import Answering, fork_for_each_line  # this file is run as a script

from cotune.agents import connect as connect_module
from cotune.agents.ledger import Ledger
from cotune.experiments.chronicle import Chronicle
from cotune.experiments.config import load_config
from cotune.experiments.run_record import record_of
from cotune.experiments.system_run import SystemRun


def play(path: Path) -> dict[str, Any]:
    connect_module.LanguageModel = Answering
    run = SystemRun.prepare(load_config(path), (), "killable")
    ledger = Ledger()
    chronicle = Chronicle(ledger)
    with run.journal() as journal:
        finished = run.execute(journal, ledger, chronicle, lambda survey: True)
    record = record_of(finished.result, run.about, chronicle)
    return record.model_dump(mode="json", exclude={"invocation", "config"})


if __name__ == "__main__":
    fork_for_each_line(play)
