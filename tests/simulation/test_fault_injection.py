"""Providers that fail, and processes that are killed: nothing is lost, nothing is paid twice."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cotune.agents.errors import FaultOrigin
from cotune.agents.ledger import Usage
from cotune.simulation.journal import Journal
from cotune.simulation.played import Played
from cotune.simulation.summary import Summary
from cotune.simulation.trajectory import StopReason, Trajectory

from ..forked_runs import Forked, ForkedRuns, forked_runs, journaled
from .shop_runs import FAULTS, MESSAGES, ShopRun

COUNT = 40
KILLS = 3
CONCURRENCY = 4  # of `killable_simulation.py`


@dataclass
class Ended:
    """A run that has ended."""

    run: ShopRun
    summary: Summary
    played: list[Played]
    journaled: int

    @property
    def whole(self) -> list[Trajectory]:
        return [one.trajectory for one in self.played if one.trajectory.fault is None]

    @property
    def trajectories(self) -> list[Trajectory]:
        return [one.trajectory for one in self.played]


def _play(folder: Path, run: ShopRun) -> Ended:
    with Journal(folder / "journal.db") as journal:
        simulator = run.simulator(journal)
        summary = asyncio.run(simulator.run(run.work))
        played = list(simulator.ended(run.work))
        return Ended(run, summary, played, journal.count("conversation"))


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A run in which nothing fails."""
    ended = _play(tmp_path_factory.mktemp("clean"), ShopRun(COUNT))
    assert len(ended.whole) == COUNT
    return ended


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The same with a provider and a model that fail."""
    return _play(tmp_path_factory.mktemp("faulty"), ShopRun(COUNT, FAULTS))


def test_every_conversation_ends_whole_or_as_an_attributed_fault(faulty: Ended) -> None:
    total = faulty.run.ledger.total
    assert total.attempts > total.calls * 1.15, "requests were refused"
    assert [one.scenario for one in faulty.trajectories] == [f"s{n}" for n in range(COUNT)]
    assert faulty.summary.conversations == faulty.journaled == COUNT

    assert len(faulty.whole) > COUNT * 0.9
    for trajectory in faulty.trajectories:
        if trajectory.fault is None:
            assert trajectory.stop is StopReason.SCRIPT_ENDED
            assert len(trajectory.turns) == len(MESSAGES)
        else:
            assert trajectory.stop is StopReason.FAULT
    faults = faulty.summary.failed.total() + faulty.summary.excluded.total()
    assert faults == COUNT - len(faulty.whole)


def test_every_answer_belongs_to_one_conversation(faulty: Ended) -> None:
    spent = [sum(one.spending.values(), Usage()) for one in faulty.played]
    assert sum(spent, Usage()) == faulty.run.ledger.total
    assert faulty.run.budget.usage.tokens == faulty.run.ledger.total.tokens


def test_what_was_merely_asked_again_is_as_if_nothing_had_been(clean: Ended, faulty: Ended) -> None:
    """The scripted model answers a question asked again as it would have at first."""
    expected = {one.scenario: one for one in clean.trajectories}
    assert faulty.whole == [expected[one.scenario] for one in faulty.whole]
    assert faulty.run.ledger.total.calls > clean.run.ledger.total.calls, "spoiled answers"


def test_conversations_that_the_provider_broke_are_played_again(
    clean: Ended, tmp_path: Path
) -> None:
    busy = ShopRun(COUNT, "rate_limit=0.10&server_error=0.05&timeout=0.05", attempts=3)
    ended = _play(tmp_path, busy)
    assert {origin for origin, _ in ended.summary.played_again} == {FaultOrigin.PROVIDER}
    assert not ended.summary.failed
    assert ended.summary.excluded.total() == COUNT - len(ended.whole) <= 2
    expected = {one.scenario: one for one in clean.trajectories}
    assert ended.whole == [expected[one.scenario] for one in ended.whole]


@pytest.fixture(scope="module")
def simulations() -> Iterator[ForkedRuns]:
    if not hasattr(os, "fork"):
        pytest.skip("simulations are forked")
    with forked_runs(Path(__file__).with_name("killable_simulation.py")) as running:
        yield running


def test_killed_at_any_point_and_run_again_no_conversation_is_paid_twice(
    simulations: ForkedRuns, tmp_path: Path
) -> None:
    whole = simulations.play(tmp_path / "whole")
    assert whole.ended
    per_conversation = Counter(whole.calls)
    chance = random.Random(5)
    for point in chance.sample(range(1, len(whole.calls)), KILLS):
        path = tmp_path / f"{point}"
        killed = simulations.play(path, kill_after=point)
        kept = killed.kept(path)
        rest = simulations.play(path)
        assert rest.ended == whole.ended
        assert len(set(killed.calls) - kept) <= CONCURRENCY, "only what was in flight is lost"
        assert kept.isdisjoint(rest.calls), "what is in the journal is never asked again"
        assert kept | set(rest.calls) == set(per_conversation)
        assert len(journaled(path, whole.calls)) == len(per_conversation)
        paid = Counter(rest.calls)
        for key in kept:
            paid[key] = killed.calls.count(key)
        assert paid == per_conversation, "and every conversation costs what it costs"
    assert simulations.play(tmp_path / "whole") == Forked([], whole.ended)
