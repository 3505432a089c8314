"""A run of the system task that is killed or stopped ends as if nothing had been.

`COTUNE_KILLS=20` kills it at twenty random points; three are enough for every day.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..forked_runs import Forked, ForkedRuns, forked_runs
from .command_line import cotune, record, run_folder, same, start
from .system_runs import typed, write_config

KILLS = int(os.environ.get("COTUNE_KILLS", "3"))
IN_FLIGHT = 4
SMALL: dict[str, Any] = {
    "system": {
        "split": {"shares": {"train": 0.4, "val": 0.3, "test": 0.3}},
        "use": {"train": 8, "val": 4, "test": 6},
    },
    "simulation": {"conversation": {"turns": 6}, "concurrency": IN_FLIGHT},
    "models": {
        "task": {"model": "scripted:grocery?noise=0.05"},
        "judge": {"model": "scripted:grocery"},
        "reflection": {"model": "scripted:grocery"},
    },
    "proposer": "reflection",
    "limits": {"rollouts": 60},
    "noise": {"examples": 2, "repeats": 2},
    "search": {"minibatch": 4, "patience": 3, "acceptance": "race", "parallel": 2},
}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


@pytest.fixture(scope="module")
def runs() -> Iterator[ForkedRuns]:
    with forked_runs(Path(__file__).with_name("killable_system.py")) as running:
        yield running


@pytest.fixture(scope="module")
def whole(runs: ForkedRuns, tmp_path_factory: pytest.TempPathFactory) -> Forked:
    """A run that nothing interrupts."""
    played = runs.play(write_config(tmp_path_factory.mktemp("whole"), **SMALL))
    assert played.ended is not None
    assert len(played.ended["candidates"]) > 2
    kinds = {key.partition(":")[0] for key in played.calls}
    assert kinds == {"conversation", "verdicts", "proposal"}
    return played


def test_killed_at_random_points_it_ends_the_same_and_pays_nothing_twice(
    runs: ForkedRuns, whole: Forked, tmp_path: Path
) -> None:
    chance = random.Random(4)
    for point in chance.sample(range(1, len(whole.calls)), KILLS):
        folder = tmp_path / f"{point}"
        folder.mkdir()
        config = write_config(folder, **SMALL)
        killed = runs.play(config, kill_after=point)
        kept = killed.kept(run_folder(folder / "cotune-runs") / "journal.sqlite")
        rest = runs.play(config)
        assert rest.ended == whole.ended
        assert kept.isdisjoint(rest.calls), "what is in the journal is never asked again"
        assert len(set(killed.calls) - kept) <= 2 * IN_FLIGHT, "only what was in flight is lost"


def test_stopped_by_a_person_it_says_how_to_go_on_and_does(tmp_path: Path) -> None:
    task = {"model": "scripted:grocery?latency_ms=10"}
    config = write_config(tmp_path, **{**SMALL, "models": {"task": task}, "proposer": "lessons"})
    command = typed(config)
    with start(*command) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if line.startswith("  search:"))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in err
    assert not (run_folder(tmp_path / "cotune-runs") / "result.json").exists()
    assert cotune(*command).code == 0
    resumed = record(tmp_path / "cotune-runs")
    assert resumed.invocation.replayed > 0
    other = tmp_path / "other"
    other.mkdir()
    cotune(*typed(config, "--out", other))
    ignored = {"config", "command", "usage"}  # what was in flight was paid for, too
    one, whole = same(resumed), same(record(other))
    assert {name: one[name] for name in one if name not in ignored} == {
        name: whole[name] for name in whole if name not in ignored
    }
