"""Conversations on a local Ray: the same as in this process, and none lost with a worker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.errors import Fault, UsageError
from cotune.agents.ledger import Usage
from cotune.agents.lm import ModelUnusableError
from cotune.agents.models import ModelSettings
from cotune.simulation.engines.on_ray import OnRay
from cotune.simulation.journal import Journal
from cotune.simulation.observer import Unwatched
from cotune.simulation.played import Played
from cotune.simulation.work import Work

from .shop_runs import ShopRun

WORKERS = 2

# Ray and its dependencies warn of their own affairs and leave files to the interpreter's end.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """One Ray for all tests, since it takes seconds to start."""
    installed = pytest.importorskip("ray", reason="Ray is not installed: pip install 'cotune[ray]'")
    installed.init(
        address="local",
        num_cpus=WORKERS + 1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    yield installed
    installed.shutdown()


def on_ray(run: ShopRun) -> OnRay:
    return OnRay(run.setup, run.ledger, run.budget, workers=WORKERS, concurrency=6)


@pytest.mark.usefixtures("ray")
async def test_results_are_those_of_one_process(tmp_path: Path) -> None:
    here, there = ShopRun(12, "noise=0.2"), ShopRun(12, "noise=0.2")
    with Journal(tmp_path / "here") as journal:
        simulator = here.simulator(journal)
        expected_summary = await simulator.run(here.work)
        expected = list(simulator.ended(here.work))
    with Journal(tmp_path / "there") as journal:
        engine = on_ray(there)
        simulator = there.simulator(journal, engine)
        summary = await simulator.run(there.work)
        assert list(simulator.ended(there.work)) == expected
        await engine.aclose()
    assert summary == expected_summary
    assert there.ledger.totals == here.ledger.totals
    assert there.budget.usage.tokens == here.budget.usage.tokens


@dataclass
class Killing(Unwatched):
    """Kills a worker when three conversations have ended, and again when eight have."""

    ray: Any
    engine: OnRay
    ended_ones: int = 0

    def __post_init__(self) -> None:
        self.again: list[str] = []

    def played_again(self, work: Work, fault: Fault) -> None:
        self.again.append(fault.kind)

    def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
        self.ended_ones += 1
        if self.ended_ones in (3, 8):
            busiest = max(self.engine._actors, key=lambda actor: actor.in_flight)
            self.ray.kill(busiest.handle)


async def test_a_killed_worker_loses_nothing(ray: Any, tmp_path: Path) -> None:
    run, whole = ShopRun(16, "latency_ms=20"), ShopRun(16, "latency_ms=20")
    engine = on_ray(run)
    killing = Killing(ray, engine)
    with Journal(tmp_path / "journal") as journal:
        simulator = run.simulator(journal, engine, killing)
        summary = await simulator.run(run.work)
        trajectories = run.trajectories(simulator)
        await engine.aclose()
    with Journal(tmp_path / "whole") as journal:
        simulator = whole.simulator(journal)
        await simulator.run(whole.work)
        assert trajectories == whole.trajectories(simulator)
    assert set(killing.again) == {"worker_lost"}
    assert len(killing.again) >= 2
    assert summary.conversations == 16
    assert not summary.excluded


@pytest.mark.usefixtures("ray")
async def test_what_ends_a_run_is_said_in_its_own_words(tmp_path: Path) -> None:
    run = ShopRun(4)
    unknown = ModelSettings(model="nosuchprovider/x")
    setup = run.setup.model_copy(update={"models": dict.fromkeys(run.setup.models, unknown)})
    engine = OnRay(setup, run.ledger, run.budget, workers=1, concurrency=2)
    with Journal(tmp_path / "journal") as journal:
        with pytest.raises(ModelUnusableError, match="no provider goes by that name") as caught:
            await run.simulator(journal, engine).run(run.work)
        assert "Traceback" not in str(caught.value)
        assert journal.count("conversation") == 0
    await engine.aclose()
    assert run.ledger.total == Usage()


def test_without_ray_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    run = ShopRun(1)
    with pytest.raises(UsageError, match=r'pip install "cotune\[ray\]"'):
        on_ray(run)
