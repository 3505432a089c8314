"""`optimize`: any task, from Python, in one call."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..agents.blocking import blocking
from ..agents.budget import Budget
from ..agents.ledger import Ledger
from ..simulation.journal import Journal
from .engine import Engine
from .observer import Observer, Silent
from .proposers.lessons import LessonsProposer
from .proposers.proposer import Proposer
from .result import RunResult
from .settings import EngineSettings
from .task import Task

_JOURNAL = "journal.sqlite"


def optimize(
    task: Task[Any],
    settings: EngineSettings,
    *,
    proposer: Proposer | None = None,
    folder: Path | None = None,
    ledger: Ledger | None = None,
    budget: Budget | None = None,
    observer: Observer | None = None,
) -> RunResult:
    """Search better prompts for a task, choose on val, and compare once on test.

    Args:
        task: What is optimized: one of cotune's, or your own with the `Task` protocol.
        settings: How; `limits.rollouts` has to be set.
        proposer: Who writes the prompts; lessons from the failures, without a model, when None.
        folder: Where results are kept. The same call with the same folder goes on where it ended,
            and pays for nothing twice. Nothing is kept when None.
        ledger: That the task's models write to; a new one when None.
        budget: That the task's models take from, so that it covers every call; one of the limits
            of the settings when None.
        observer: Who is told what happens; nobody when None.

    Raises:
        UsageError: The budget does not buy one candidate.
        PausedError: Too many rollouts were lost to faults; call again to go on.
        ModelUnusableError: No model call can succeed.
        BudgetExhaustedError: Tokens or money ended before the seed was scored.
    """
    with ExitStack() as stack:
        kept = folder or Path(stack.enter_context(TemporaryDirectory()))
        journal = stack.enter_context(Journal(kept / _JOURNAL))
        engine = Engine(
            task,
            settings,
            proposer or LessonsProposer(),
            journal,
            ledger or Ledger(),
            budget or Budget(settings.limits),
            observer or Silent(),
        )
        return blocking(engine.run())
