"""The evaluator: order changes nothing, nothing is paid twice, faults pause and heal."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from cotune.agents.budget import BudgetExhaustedError
from cotune.agents.ledger import Usage
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.agent_task import AgentTask
from cotune.optimizer.evaluator import Evaluator
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.observer import Silent
from cotune.optimizer.rollout import Rollout
from cotune.simulation.journal import Journal
from cotune.simulation.paused import PausedError

from .tasks import FakeTask, Hanging, Model, evaluator, examples

BUNDLE = PromptBundle.of(Prompt("helper", "Help."))
MANY = examples("train", 40)


def _some(*numbers: int) -> Callable[[RecordedCall, str], bool]:
    ids = {MANY[number].id for number in numbers}
    return lambda example, text: example.id in ids


def _jittery(seed: int) -> FakeTask:
    chance = random.Random(seed)
    return FakeTask(
        lambda example, text, repeat: (len(example.id) + repeat) / 20,
        delay=lambda: chance.random() / 200,
        lost=_some(7, 23),
        concurrency=9,
    )


async def _all(task: FakeTask, journal: Path, threshold: float = 0.05) -> list[Rollout]:
    with Journal(journal) as opened:
        return await evaluator(task, opened, threshold=threshold).evaluate(MANY, BUNDLE)


async def test_results_come_in_order_whatever_order_they_end_in(tmp_path: Path) -> None:
    found = [await _all(_jittery(seed), tmp_path / f"{seed}") for seed in range(4)]
    assert [one.example for one in found[0]] == [example.id for example in MANY]
    assert all(other == found[0] for other in found[1:])


async def test_nothing_is_played_twice(tmp_path: Path) -> None:
    task = _jittery(0)
    with Journal(tmp_path / "journal") as journal:
        first = evaluator(task, journal)
        once = await first.evaluate(MANY, BUNDLE)
        assert await first.evaluate([*MANY, *MANY[:5]], BUNDLE) == [*once, *once[:5]]
        assert first.budget.rollouts == 40, "what is remembered costs no rollout"
        assert first.recall(MANY[3:5], BUNDLE) == once[3:5]
        second = evaluator(task, journal)
        assert await second.evaluate(MANY, BUNDLE) == once
        assert second.budget.rollouts == 40, "what is replayed counts as the same run"
        assert second.ledger.total.replayed == 40 - 2, "faults made no call"
        await second.evaluate(MANY[:3], BUNDLE, repeat=1)
    assert set(task.played.values()) == {1}
    assert len(task.played) == 43


async def test_an_example_asked_for_twice_at_once_is_played_once(tmp_path: Path) -> None:
    task = FakeTask()
    with Journal(tmp_path / "journal") as journal:
        found = await evaluator(task, journal).evaluate([MANY[0], MANY[0]], BUNDLE)
    assert found[0] == found[1]
    assert task.played.total() == 1


async def test_what_was_never_evaluated_is_not_recalled(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal, pytest.raises(KeyError):
        evaluator(FakeTask(), journal).recall(MANY, BUNDLE)


async def test_the_key_follows_prompt_example_repeat_and_task(tmp_path: Path) -> None:
    task = FakeTask()
    changed = MANY[0].model_validate({**MANY[0].model_dump(), "gold": {}})
    other = PromptBundle.of(Prompt("helper", "Help more."))
    with Journal(tmp_path / "journal") as journal:
        for example, bundle, repeat in [
            (MANY[0], BUNDLE, 0),
            (changed, BUNDLE, 0),
            (MANY[0], other, 0),
            (MANY[0], BUNDLE, 1),
        ]:
            await evaluator(task, journal).evaluate([example], bundle, repeat)
        task.identity = lambda: {"task": "another"}
        await evaluator(task, journal).evaluate([MANY[0]], BUNDLE)
        assert journal.count("rollout") == 5


async def test_no_more_than_allowed_are_in_flight(tmp_path: Path) -> None:
    task = FakeTask(delay=lambda: 0.002, concurrency=3)
    await _all(task, tmp_path / "journal")
    assert task.most_in_flight == 3


async def test_too_many_faults_pause_and_a_later_run_heals(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    sick = FakeTask(lost=_some(1, 2, 3, 4, 5), concurrency=4)
    with pytest.raises(PausedError, match=r"3 of 40 rollouts .* provider \(rate_limit\)"):
        await _all(sick, path)
    assert sick.played.total() < 40, "after a pause nothing is begun"
    well = FakeTask()
    found = await _all(well, path)
    assert all(one.fault is None for one in found)
    lost = [example.id for example in MANY if sick.lost(example, "")]
    kept = {id_ for id_, _, _ in sick.played} - set(lost)
    assert kept.isdisjoint(id_ for id_, _, _ in well.played), "what was scored is not paid again"
    assert found == await _all(FakeTask(), tmp_path / "other")


async def test_a_fault_below_the_threshold_stays_excluded_after_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    before = await _all(FakeTask(lost=_some(4, 9)), path)
    assert [one.example for one in before if one.fault] == [MANY[4].id, MANY[9].id]
    well = FakeTask()
    with Journal(path) as journal:
        resumed = evaluator(well, journal)
        assert await resumed.evaluate(MANY, BUNDLE) == before
        assert len(resumed.faults) == 2
    assert not well.played


async def test_faults_of_earlier_steps_count_towards_the_pause(tmp_path: Path) -> None:
    task = FakeTask(lost=_some(0, 20))
    with Journal(tmp_path / "journal") as journal:
        one = evaluator(task, journal)
        await one.evaluate(MANY[:20], BUNDLE)
        with pytest.raises(PausedError):
            await one.evaluate(MANY[20:30], BUNDLE)


async def test_a_threshold_of_0_allows_no_fault(tmp_path: Path) -> None:
    task = FakeTask(lost=_some(7))
    await _all(task, tmp_path / "lenient", threshold=0.01)
    with pytest.raises(PausedError, match="1 of 40 rollouts"):
        await _all(task, tmp_path / "strict", threshold=0)


class Breaking(AgentTask):
    """Pays for a call and then breaks."""

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int) -> Rollout:
        await super().rollout(example, candidate, repeat)
        raise ZeroDivisionError("a bug")


def _routing(model: Model) -> AgentTask:
    return model.routing()


def _breaking(model: Model) -> AgentTask:
    task = model.routing()
    return Breaking(task.agent, task.seed, task.splits, task.rubric, task.lm)


@pytest.mark.parametrize(
    ("name", "build", "error"),
    [
        ("scripted:grocery?empty=1", _routing, PausedError),
        ("scripted:grocery", _breaking, ZeroDivisionError),
    ],
)
async def test_what_was_paid_in_vain_counts_in_the_next_run(
    name: str, build: Callable[[Model], AgentTask], error: type[Exception], tmp_path: Path
) -> None:
    with Journal(tmp_path / "journal") as journal:
        paid = Usage()
        for _ in range(2):
            model = Model(name)
            task = build(model)
            ours = Evaluator(task, journal, model.ledger, model.budget, Silent())
            assert model.budget.usage == paid
            assert model.ledger.total == paid.as_replayed()
            with pytest.raises(error):
                await ours.evaluate(task.splits.train, task.seed)
            assert model.budget.usage.calls > paid.calls
            paid = model.budget.usage
        assert journal.count("rollout") == 0


async def test_a_spent_budget_is_said_before_anything_begins(tmp_path: Path) -> None:
    task = FakeTask()
    with Journal(tmp_path / "journal") as journal:
        one = evaluator(task, journal, rollouts=50)
        await one.evaluate(MANY[:20], BUNDLE)
        with pytest.raises(BudgetExhaustedError, match="20 of 50 rollouts"):
            await one.evaluate([*MANY[:10], *MANY[20:], *examples("val", 11)], BUNDLE)
        assert task.played.total() == 20
        await one.evaluate([*MANY, *examples("val", 10)], BUNDLE)
    assert task.played.total() == 50


async def test_a_bug_in_a_task_ends_the_run_after_those_in_flight(tmp_path: Path) -> None:
    def score(example: RecordedCall, text: str, repeat: int) -> float:
        if example == MANY[2]:
            raise ZeroDivisionError("a bug")
        return 1.0

    task = FakeTask(score, delay=lambda: 0.001)
    with pytest.raises(ZeroDivisionError):
        await _all(task, tmp_path / "journal")
    assert task.in_flight == 0
    with Journal(tmp_path / "journal") as journal:
        assert journal.count("rollout") == task.played.total() - 1


async def test_a_cancelled_evaluation_leaves_nothing_running(tmp_path: Path) -> None:
    task = Hanging(after=9)
    with Journal(tmp_path / "journal") as journal:
        work = asyncio.create_task(evaluator(task, journal).evaluate(MANY, BUNDLE))
        await task.hangs.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await asyncio.sleep(0.01)
        assert (task.in_flight, task.played.total()) == (0, 9)
        assert 9 - task.concurrency <= journal.count("rollout") <= 9
