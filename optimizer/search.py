"""The search: gepa evolves the prompts, under our budget, guards and acceptance."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from gepa.api import optimize
from gepa.core.callbacks import GEPACallback
from gepa.proposer.reflective_mutation.base import ReflectionComponentSelector
from gepa.strategies.proposal_sampling import IndependentSampling, SamplingStrategy

from ..agents.budget import BudgetExhaustedError
from .acceptor import Acceptor
from .candidate import Pool
from .component_selection import component_selection
from .drafting import Drafting
from .evaluator import Evaluator
from .example import Example
from .example_loader import ExampleLoader
from .gepa_bridge import GepaBridge, Policies
from .guards import Guards, Unfit, fits_all
from .learning import Learning
from .noise import Noise
from .observer import Observer
from .proposers.proposer import Proposer
from .racing import Race
from .sampling import Newest, Telling
from .settings import EngineSettings, Search
from .task import Task
from .val_policy import searched_val

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
    noise: Noise | None = None,
    unfit: Unfit = fits_all,
) -> SearchOutcome:
    """Evolve prompts until the budget, the proposer or patience ends it.

    Raises:
        PausedError: Too many faults.
        ModelUnusableError: No call of a model, the reflection model among them, can succeed.
        BudgetExhaustedError: The budget ended before the seed was scored.
    """
    val = searched_val(task.splits.val, settings.search)
    policies = _policies(task, val, settings, evaluator, proposer, noise, unfit)
    bridge = GepaBridge(task.seed, ExampleLoader(val), policies, evaluator, observer)
    running = asyncio.ensure_future(asyncio.to_thread(_run_gepa, task, settings, bridge, policies))
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
    task: Task[Any], settings: EngineSettings, bridge: GepaBridge, policies: Policies
) -> None:
    search = settings.search
    optimize(
        seed_candidate=task.seed.texts(),
        trainset=ExampleLoader(task.splits.train),
        valset=ExampleLoader(policies.acceptor.val),
        adapter=bridge,
        candidate_selection_strategy=Newest() if search.parents == "newest" else search.parents,
        frontier_type=search.frontier,
        module_selector=cast(ReflectionComponentSelector, bridge.select_agents),
        sampling_strategy=_sampling(search, bridge, policies),
        reflection_minibatch_size=min(search.minibatch, len(task.splits.train)),
        acceptance_criterion=bridge,
        stop_callbacks=[bridge],
        callbacks=[cast(GEPACallback, bridge)],  # gepa calls the methods that are there
        track_best_outputs=False,
        logger=_Logger(),
        seed=settings.seed,
    )


def _sampling(search: Search, bridge: GepaBridge, policies: Policies) -> SamplingStrategy:
    if search.acceptance == "credit" and search.minibatches == "telling":
        experience = policies.learning.experience
        return Telling(search.minibatch, search.parallel, experience, bridge.bundle)
    return IndependentSampling(search.parallel)


def _policies(
    task: Task[Any],
    val: Sequence[Example],
    settings: EngineSettings,
    evaluator: Evaluator,
    proposer: Proposer,
    noise: Noise | None,
    unfit: Unfit,
) -> Policies:
    search, splits = settings.search, task.splits
    guards = _guards(task, proposer, search.max_prompt_length)
    race = Race.of(search, noise)
    return Policies(
        component_selection(search, settings.seed),
        Drafting(proposer, guards, unfit, search.max_prompt_length),
        Acceptor(search, splits.train, val, evaluator, race),
        Learning(search, frozenset(example.id for example in splits.train)),
        search.patience,
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
