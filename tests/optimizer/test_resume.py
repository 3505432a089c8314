"""Killed at any moment and run again, a run ends as if nothing had been, and pays nothing twice."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..forked_runs import Forked, ForkedRuns, forked_runs

CONCURRENCY = 8
KILLS = 10
LATENCY = 0.01

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


@pytest.fixture(scope="module")
def runs() -> Iterator[ForkedRuns]:
    with forked_runs(Path(__file__).with_name("killable.py")) as running:
        yield running


@pytest.fixture(scope="module")
def whole(runs: ForkedRuns, tmp_path_factory: pytest.TempPathFactory) -> Forked:
    """A run that nothing interrupts."""
    played = runs.play(tmp_path_factory.mktemp("whole") / "journal")
    assert played.ended is not None
    assert len(played.ended["candidates"]) > 3
    assert played.ended["held_out"] is not None
    assert len(set(played.calls)) == len(played.calls) > 80
    assert any(key.startswith("proposal:") for key in played.calls)
    return played


def test_killed_at_ten_random_points_and_run_again(
    runs: ForkedRuns, whole: Forked, tmp_path: Path
) -> None:
    chance = random.Random(2)
    for point in chance.sample(range(1, len(whole.calls) - 2 * CONCURRENCY), KILLS):
        path = tmp_path / f"{point}"
        killed = runs.play(path, kill_after=point, wait=chance.random() * LATENCY)
        kept = killed.kept(path)
        assert killed.ended in (None, whole.ended)
        assert len(killed.calls) - len(kept) <= CONCURRENCY, "only what was in flight is lost"
        rest = runs.play(path)
        assert rest.ended == whole.ended
        assert kept.isdisjoint(rest.calls), "what is in the journal is never asked again"
        assert len(kept) + len(rest.calls) == len(whole.calls)


def test_killed_again_and_again_it_still_gets_there(
    runs: ForkedRuns, whole: Forked, tmp_path: Path
) -> None:
    path, chance = tmp_path / "journal", random.Random(3)
    kept: set[str] = set()
    while len(kept) + 2 * CONCURRENCY < len(whole.calls):
        killed = runs.play(path, kill_after=14, wait=chance.random() * LATENCY)
        assert kept.isdisjoint(killed.calls)
        kept |= killed.kept(path)
    assert runs.play(path).ended == whole.ended
    assert runs.play(path) == Forked([], whole.ended), "a run that has ended costs nothing"
