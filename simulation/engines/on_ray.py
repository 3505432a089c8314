"""An engine that spreads conversations over the processes of a Ray cluster.

Workers receive units of work and send back what came of them, as JSON; the journal stays with
the driver. Keys of models are read from each worker's own environment and are never sent.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...agents.budget import Budget
from ...agents.errors import CotuneError, Fault, FaultOrigin, UsageError
from ...agents.ledger import Ledger, Role, Usage
from ..played import Played
from ..player import Player
from ..setup import Setup, conversations_at_once
from ..trajectory import StopReason, Trajectory
from ..work import Work

LOCAL = "local"


class Worker:
    """Runs inside a Ray actor and plays many conversations in that actor's event loop."""

    def __init__(self, setup: Mapping[str, Any]) -> None:
        self._setup = Setup.model_validate(setup)
        self._player: Player | None = None

    async def play(self, work: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Play one unit of work."""
        # Built here and not at the start: what is wrong then comes back in its own words.
        if self._player is None:
            self._player = Player.of(self._setup, Ledger())
        played = await self._player.play(Work.from_json(work), key)
        return played.to_json()


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    in_flight: int = 0


class OnRay:
    """An `Engine` of several workers, each in a process of its own.

    A worker that dies takes the units it was playing with it: each comes back as a fault of the
    infrastructure, which the simulator plays again, and a fresh worker takes its place.
    """

    def __init__(
        self,
        setup: Setup,
        ledger: Ledger,
        budget: Budget,
        *,
        workers: int = 2,
        concurrency: int = 64,
        address: str = LOCAL,
    ) -> None:
        """Connect to Ray, or start it on this computer, and start the workers.

        Args:
            setup: Who plays. Calls in flight are shared out among the workers.
            ledger: Where what they spend is counted, conversation by conversation.
            budget: What ends the run when it is spent; checked before each conversation.
            workers: How many.
            concurrency: Conversations in flight at most, over all workers; fewer when the model
                takes fewer calls.
            address: Of a running cluster, in Ray's form.

        Raises:
            UsageError: Ray is not installed, or the cluster cannot be reached.
        """
        self.concurrency = conversations_at_once(concurrency, setup.models.get(Role.TASK))
        self._ledger = ledger
        self._budget = budget
        self._setup = setup.divided(workers).model_dump(mode="json")
        self._ray = _import_ray()
        self._started_ray = not self._ray.is_initialized()
        if self._started_ray:
            _start(self._ray, address, workers)
        self._actors = [self._new_actor() for _ in range(workers)]

    async def play(self, work: Work, key: str) -> Played:
        """Play one unit on the worker that has least to do; see `Engine.play`."""
        self._budget.check_call()
        actor = min(self._actors, key=lambda each: each.in_flight)
        actor.in_flight += 1
        try:
            record = await actor.handle.play.remote(work.to_json(), key)
        except self._ray.exceptions.RayActorError:
            self._replace(actor)
            return _lost(work)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, CotuneError):
                raise error.cause from None
            raise
        finally:
            actor.in_flight -= 1
        played = Played.from_json(record)
        self._ledger.add(played.spending)
        self._budget.add(sum(played.spending.values(), Usage()))
        return played

    async def aclose(self) -> None:
        """Stop the workers, and Ray where it was started for them."""
        for actor in self._actors:
            self._ray.kill(actor.handle)
        if self._started_ray:
            self._ray.shutdown()

    def _new_actor(self) -> _Actor:
        remote = self._ray.remote(Worker)
        return _Actor(remote.options(max_concurrency=self.concurrency).remote(self._setup))

    def _replace(self, actor: _Actor) -> None:
        """Put a fresh worker in a dead one's place; all its units notice, the first one acts."""
        if actor in self._actors:
            self._actors[self._actors.index(actor)] = self._new_actor()


def _import_ray() -> Any:
    # Nothing about this computer is reported to anybody, unless its owner says so.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise UsageError(
            'The engine "ray" needs Ray, which is not installed: pip install "cotune[ray]". '
            "Without it, choose the engine that plays in this process."
        ) from error


def _start(ray: Any, address: str, workers: int) -> None:
    here = {"num_cpus": workers, "include_dashboard": False} if address == LOCAL else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **here)
    except (ConnectionError, RuntimeError, ValueError) as error:
        line = str(error).strip().partition("\n")[0]
        raise UsageError(
            f"Ray cannot be used at the address '{address}' ({line}). Start a cluster there, or "
            "leave the address out to run on this computer."
        ) from error


def _lost(work: Work) -> Played:
    fault = Fault(FaultOrigin.INFRASTRUCTURE, "worker_lost", "the process that played it died")
    start = work.scenario.initial_state
    ended = Trajectory(work.scenario.id, (), start, StopReason.FAULT, fault, work.label)
    return Played(ended, {})
