"""Runs that can be killed; see `forking.py`. The paths are of journals."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from dspy.lm15 import Request, Response
from forking import fork_for_each_line, say  # this file is run as a script
from tasks import Model, outcome  # beside it

from cotune.agents.ledger import Role, current_attribution
from cotune.agents.lm import LanguageModel
from cotune.optimizer.proposers.reflection import ReflectionProposer

MODEL = "scripted:grocery?noise=0.1&rate_limit=0.02&latency_ms=10"


class Asked(LanguageModel):
    """A model that says what it is asked."""

    async def respond(self, request: Request) -> Response:
        say("call", current_attribution().key)
        return await super().respond(request)


def play(journal: Path) -> dict[str, Any]:
    run = Model(MODEL, kind=Asked).run(
        journal,
        lambda model, opened: ReflectionProposer(model.lm(Role.REFLECTION), opened, model.ledger),
    )
    return outcome(asyncio.run(run))


if __name__ == "__main__":
    fork_for_each_line(play)
