"""The search: gepa evolves the prompts, under our budget, guards and acceptance."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, cast

from gepa.api import optimize
from gepa.core.callbacks import GEPACallback

from ..agents.budget import BudgetExhaustedError
from .candidate import Pool
from .evaluator import Evaluator
from .gepa_bridge import ExampleLoader, GepaBridge
from .guards import Guards
from .observer import Observer
from .proposers.proposer import Proposer
from .settings import EngineSettings
from .task import Task

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """All candidates, and why the search ended."""

    pool: Pool
    stopped: str


async def search(
    task: Task[Any],
    settings: EngineSettings,
    evaluator: Evaluator,
    proposer: Proposer,
    observer: Observer,
) -> SearchOutcome:
    """Evolve prompts until the budget, the proposer or patience ends it.

    Raises:
        PausedError: Too many faults.
        ModelUnusableError: No call of a model, the reflection model among them, can succeed.
        BudgetExhaustedError: The budget ended before the seed was scored.
    """
    val = ExampleLoader(task.splits.val)
    guards = _guards(task, proposer, settings.search.max_prompt_length)
    bridge = GepaBridge(task.seed, val, settings.search, evaluator, proposer, guards, observer)
    running = asyncio.ensure_future(asyncio.to_thread(_run_gepa, task, settings, bridge, val))
    try:
        await asyncio.shield(running)
        stopped = bridge.stopped
    except BudgetExhaustedError as error:
        if not bridge.pool.candidates:
            raise
        stopped = error.limit
    except asyncio.CancelledError:
        bridge.abandon()
        await asyncio.gather(running, return_exceptions=True)
        raise
    if bridge.error is not None:
        raise bridge.error
    bridge.close()
    return SearchOutcome(bridge.pool, stopped)


def _run_gepa(
    task: Task[Any], settings: EngineSettings, bridge: GepaBridge, val: ExampleLoader
) -> None:
    optimize(
        seed_candidate=task.seed.texts(),
        trainset=ExampleLoader(task.splits.train),
        valset=val,
        adapter=bridge,
        candidate_selection_strategy=settings.search.parents,
        frontier_type=settings.search.frontier,
        reflection_minibatch_size=min(settings.search.minibatch, len(task.splits.train)),
        acceptance_criterion=bridge,
        stop_callbacks=[bridge],
        callbacks=[cast(GEPACallback, bridge)],  # gepa calls the methods that are there
        track_best_outputs=False,
        logger=_Logger(),
        seed=settings.seed,
    )


def _guards(task: Task[Any], proposer: Proposer, max_length: int) -> Guards:
    splits = task.splits
    examples = [*splits.val, *splits.test, *([] if proposer.quotes_train else splits.train)]
    texts = (text for example in examples for text in task.texts(example))
    return Guards.protecting(texts, max_length)


class _Logger:
    """Sends gepa's log lines to ours, where they are shown with --verbose only."""

    def log(self, message: str) -> None:
        """Log one line."""
        _log.debug("%s", message)
