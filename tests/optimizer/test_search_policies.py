"""Races, parts of val and parallel proposals: what they pay for, and what they decide."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.fingerprint import fingerprint
from cotune.optimizer.candidate import Status
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.proposers.proposer import Assignment
from cotune.optimizer.result import RunResult
from cotune.optimizer.settings import Race

from .tasks import FakeTask, Proposing, numbered, outcome, run, settings, splits

SEED = "Help."


def of_quality(better: float, noise: float) -> Any:
    """Score: the seed 0.4, others `better` above it, with noise of each rollout."""

    def score(example: RecordedCall, text: str, repeat: int) -> float:
        luck = int(fingerprint([example.id, text, repeat], 6), 16) / 16**6
        true = 0.4 + (0.0 if text == SEED else better)
        return min(1.0, max(0.0, true + noise * (2 * luck - 1)))

    return score


async def search(task: FakeTask, folder: Path, rollouts: int = 400, **how: Any) -> RunResult:
    return await run(task, folder / "journal", numbered(), settings(rollouts, **how))


def played_on(task: FakeTask, split: str, *, seed: bool) -> dict[str, int]:
    """Count the examples of a split that each prompt was played on in the search."""
    counts: dict[str, int] = {}
    for (id_, text, repeat), _ in task.played.items():
        if id_.startswith(split) and repeat == 0 and (text == SEED) is seed:
            counts[text] = counts.get(text, 0) + 1
    return counts


async def test_a_race_ends_early_where_it_is_clear_and_goes_on_where_it_is_not(
    tmp_path: Path,
) -> None:
    race = Race(most=24, step=4)
    how: dict[str, Any] = {"acceptance": "race", "race": race, "patience": 3}
    clear = FakeTask(of_quality(0.4, 0.1), splits(24, 8, 8))
    first = (await search(clear, tmp_path / "clear", **how)).pool.candidates[1]
    assert "on 4 examples" in first.reason, "those of the minibatch"
    worse = FakeTask(of_quality(-0.2, 0.1), splits(24, 8, 8))
    await search(worse, tmp_path / "worse", **how)
    assert set(played_on(worse, "train", seed=False).values()) == {4}
    close = FakeTask(of_quality(0.05, 0.4), splits(24, 8, 8))
    result = await search(close, tmp_path / "close", **how)
    assert max(played_on(close, "train", seed=False).values()) > 4
    assert max(played_on(close, "train", seed=False).values()) <= race.most
    assert all("examples" in one.reason for one in result.pool.candidates[1:])


async def test_a_parent_is_played_once_on_what_races_add(tmp_path: Path) -> None:
    task = FakeTask(of_quality(0.02, 0.4), splits(24, 8, 8))
    race = Race(most=24, step=8)
    await search(task, tmp_path, acceptance="race", race=race, patience=5)
    assert set(task.played.values()) == {1}


async def test_children_are_scored_on_a_part_of_val_and_finalists_on_all_of_it(
    tmp_path: Path,
) -> None:
    part = FakeTask(of_quality(0.3, 0.1), splits(8, 40, 8))
    result = await search(part, tmp_path / "part", val="part", patience=3)
    assert set(played_on(part, "val", seed=False).values()) == {10}
    assert {len(one.val) for one in result.pool.scored()} == {10}
    again = [id_ for id_, _, repeat in part.played if id_.startswith("val") and repeat == 1]
    assert len(set(again)) == 40
    full = FakeTask(of_quality(0.3, 0.1), splits(8, 40, 8))
    await search(full, tmp_path / "full", patience=3)
    assert 40 in played_on(full, "val", seed=False).values()


@pytest.mark.parametrize("rollouts", [170, 190, 230])
async def test_a_budget_that_ends_in_a_race_leaves_the_child_unfinished(
    rollouts: int, tmp_path: Path
) -> None:
    task = FakeTask(of_quality(0.05, 0.4), splits(24, 16, 16))
    race = Race(most=24, step=4)
    result = await search(task, tmp_path, rollouts, acceptance="race", race=race, patience=99)
    assert task.played.total() <= rollouts
    assert result.rollouts <= rollouts
    assert "rollouts" in result.stopped


@pytest.mark.parametrize("parallel", [1, 3])
async def test_parallel_proposals_give_the_same_run_whatever_order_calls_finish_in(
    parallel: int, tmp_path: Path
) -> None:
    def task(chance: random.Random | None) -> FakeTask:
        delay = (lambda: chance.uniform(0, 0.004)) if chance else (lambda: 0.0)
        return FakeTask(of_quality(0.1, 0.3), splits(24, 8, 8), delay=delay)

    runs = [
        await search(
            task(None if number == 0 else random.Random(number)),
            tmp_path / str(number),
            parallel=parallel,
            acceptance="race",
            race=Race(most=16, step=4),
            val="part",
        )
        for number in range(3)
    ]
    assert outcome(runs[0]) == outcome(runs[1]) == outcome(runs[2])
    assert len(runs[0].pool.candidates) > 2


async def test_the_same_proposal_twice_in_an_iteration_is_played_and_noted_once(
    tmp_path: Path,
) -> None:
    same = Proposing(lambda assignment: {"helper": "Better."})
    task = FakeTask(of_quality(0.3, 0.05), splits(24, 8, 8))
    chosen = settings(200, parallel=3, patience=3)
    result = await run(task, tmp_path / "journal", same, chosen)
    tried = [one for one in result.pool.candidates[1:] if one.status is not Status.REFUSED]
    assert [(one.bundle["helper"].text, one.status) for one in tried] == [
        ("Better.", Status.ACCEPTED)
    ]
    assert set(task.played.values()) == {1}


@pytest.mark.parametrize("acceptance", ["minibatch", "race"])
async def test_what_is_unsafe_is_never_accepted_chosen_or_called_deployable(
    acceptance: str, tmp_path: Path
) -> None:
    """Unsafe variants score far higher, on train, val and test alike."""

    def score(example: RecordedCall, text: str, repeat: int) -> float:
        return 0.95 if "unsafe" in text else 0.3

    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
        return ("no_allergen",) if "unsafe" in text and example.id.endswith(("1", "5")) else ()

    task = FakeTask(score, splits(16, 16, 16), critical=critical)
    proposer = numbered("unsafe")
    how = settings(400, acceptance=acceptance, minibatch=8, patience=4)
    result = await run(task, tmp_path / "journal", proposer, how)
    assert result.winner.number == 0
    assert result.choice.finalists == ()
    assert {one.status for one in result.pool.candidates[1:]} == {Status.REJECTED}


async def test_a_winner_that_is_unsafe_only_on_test_is_not_deployable(tmp_path: Path) -> None:
    def score(example: RecordedCall, text: str, repeat: int) -> float:
        return 0.4 if text == SEED else 0.9

    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
        return ("no_allergen",) if text != SEED and example.id == "test-3" else ()

    task = FakeTask(score, splits(8, 8, 12), critical=critical)
    result = await search(task, tmp_path)
    assert result.held_out is not None
    assert result.held_out.conclusion == "improved"
    assert not result.held_out.deployable
    assert not result.deployable
    (said,) = result.held_out.safety
    assert said.startswith("'no_allergen' failed in 1 of 12 rollouts with the winner, in 0")


async def test_agents_are_drawn_by_blame(tmp_path: Path) -> None:
    asked: list[Mapping[str, Any]] = []

    def say(assignment: Assignment) -> Mapping[str, str]:
        asked.append(assignment.prompts)
        return {}

    await run(FakeTask(), tmp_path / "journal", Proposing(say), settings())
    assert asked
    assert all(list(prompts) == ["helper"] for prompts in asked)
