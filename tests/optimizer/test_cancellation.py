"""A cancelled run ends at once, leaves nothing behind, and goes on from the journal later."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cotune.optimizer import gepa_bridge
from cotune.optimizer.proposers.proposer import Assignment, Draft
from cotune.optimizer.rollout import Rollout, mean_score
from cotune.simulation.journal import Journal

from .tasks import FakeTask, Hanging, engine, outcome, run


async def _cancelled(work: Coroutine[Any, Any, Any], due: asyncio.Event) -> None:
    """Cancel a run when it is due, and see that it ends."""
    running = asyncio.create_task(work)
    await due.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 5)


@pytest.mark.parametrize("after", [5, 20, 45])
def test_a_cancelled_run_ends_leaves_nothing_behind_and_goes_on_later(
    after: int, tmp_path: Path
) -> None:
    path = tmp_path / "journal"
    threads = set(threading.enumerate())
    task = Hanging(after=after)
    asyncio.run(_cancelled(run(task, path), task.hangs))
    assert set(threading.enumerate()) == threads
    assert (task.in_flight, task.played.total()) == (0, after)
    with Journal(path) as journal:
        kept = journal.count("rollout")
    assert after - task.concurrency < kept <= after
    rest = FakeTask()
    result = asyncio.run(run(rest, path))
    assert rest.played.total() == result.rollouts - kept, "what was journaled is not played again"
    assert outcome(result) == outcome(asyncio.run(run(FakeTask(), tmp_path / "whole")))


async def test_a_run_is_cancelled_while_the_proposer_thinks(tmp_path: Path) -> None:
    thinking = asyncio.Event()

    @dataclass
    class Slow:
        name: str = "slow"
        quotes_train: bool = True

        async def propose(self, assignment: Assignment) -> Draft:
            thinking.set()
            await asyncio.sleep(60)
            return Draft({})

    task = FakeTask()
    await _cancelled(run(task, tmp_path / "journal", Slow()), thinking)
    assert {text for _, text, _ in task.played} == {"Help."}


async def test_a_run_is_cancelled_while_gepa_is_at_work_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to cancel then, so what gepa asks for next must be refused."""
    loop, due, task = asyncio.get_running_loop(), asyncio.Event(), FakeTask()

    means: list[float | None] = []

    def slow_mean(rollouts: Sequence[Rollout]) -> float | None:
        means.append(mean_score(rollouts))
        if len(means) == 3:  # the seed on val, the parent and then the child on the minibatch
            loop.call_soon_threadsafe(due.set)
            # Long enough that the cancellation comes first on a busy machine, too.
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0.5), loop).result()
        return means[-1]

    monkeypatch.setattr(gepa_bridge, "mean_score", slow_mean)
    with Journal(tmp_path / "journal") as journal:
        await _cancelled(engine(task, journal).run(), due)
        played = task.played.total()
        await asyncio.sleep(0.1)
        assert task.played.total() == played
    assert all(id_.startswith("train") for id_, text, _ in task.played if text != "Help.")
