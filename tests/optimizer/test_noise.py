from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cotune.agents.budget import BudgetExhaustedError
from cotune.optimizer.noise import Noise, measure_noise, noise_of, spread
from cotune.optimizer.settings import NoiseSettings
from cotune.rubrics.statistics import Conclusion, conclude, paired_difference
from cotune.simulation.journal import Journal

from .tasks import FakeTask, evaluator, splits


def test_a_hand_worked_analysis_of_variance() -> None:
    # means 0.5, 0.75, 0.25; within (0.125 + 0.125 + 0.125) / 3; between 2 * 0.125 / 2 = 0.125
    noise = noise_of([[0.25, 0.75], [0.5, 1.0], [0.0, 0.5]], 2)
    assert noise is not None
    assert (noise.mean, noise.scenarios, noise.repeats) == (0.5, 3, 2)
    assert noise.between_repeats == pytest.approx(0.125)
    assert noise.between_scenarios == pytest.approx(0.0), "0.125 less 0.125, over 2"


def test_what_differs_between_examples_only_is_no_noise() -> None:
    noise = noise_of([[0.0, 0.0], [1.0, 1.0]], 2)
    assert noise is not None
    assert (noise.between_repeats, noise.between_scenarios) == (0.0, 0.5)


def test_too_little_says_nothing_and_a_fault_leaves_its_example_out() -> None:
    assert noise_of([], 2) is None
    assert noise_of([[0.1, 0.9], [0.5]], 2) is None
    noise = noise_of([[0.1, 0.9], [0.5], [0.2, 0.2]], 2)
    assert noise is not None
    assert noise.scenarios == 2


def test_both_components_are_found_again_on_average() -> None:
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        true = rng.normal(0.5, 0.2, 20)
        scores = [rng.normal(one, 0.1, rng.integers(2, 5)).tolist() for one in true]
        noise = noise_of(scores, 4)
        assert noise is not None
        found.append((noise.between_scenarios, noise.between_repeats))
    assert np.mean(found, axis=0) == pytest.approx([0.04, 0.01], rel=0.1)


# What a test would see


def test_more_examples_repeats_and_families_see_smaller_differences() -> None:
    noise = Noise(0.6, 0.04, 0.06, 12, 2)
    base = noise.detectable(40, 1)
    assert noise.detectable(80, 1) < base
    assert noise.detectable(40, 2) < base
    assert noise.detectable(40, 1, families=10) > base
    assert noise.detectable(40, 1, power=0.95) > base
    assert noise.detectable(40, 1, confidence=0.99) > base
    assert 0 < base < 1


def test_without_noise_anything_is_seen_and_with_one_family_nothing() -> None:
    assert Noise(0.6, 0.0, 0.0, 12, 2).detectable(10, 1) == 0
    assert Noise(0.6, 0.1, 0.1, 12, 2).detectable(10, 1, families=1) == 1
    assert Noise(0.6, 0.2, 0.2, 12, 2).detectable(2, 1) == 1


@pytest.mark.parametrize(("spread_of_gains", "low", "high"), [(1.0, 0.7, 0.9), (0.0, 0.85, 1.0)])
def test_the_detectable_difference_is_seen_about_four_times_in_five(
    spread_of_gains: float, low: float, high: float
) -> None:
    """So when gains vary as much as scenarios do, the assumption; more often when they do not."""
    rng = np.random.default_rng(7)
    between, within, examples = 0.02, 0.03, 30
    gain = Noise(0.5, between, within, 20, 2).detectable(examples, 1)
    seen = 0
    for _ in range(200):
        true = rng.normal(0.5, between**0.5, examples)
        gains = rng.normal(gain, (spread_of_gains * between) ** 0.5, examples)
        before = rng.normal(true, within**0.5)
        after = rng.normal(true + gains, within**0.5)
        interval = paired_difference(before.tolist(), after.tolist(), resamples=400)
        seen += conclude(interval) is Conclusion.IMPROVED
    assert low < seen / 200 <= high


# How it is measured


def test_examples_are_taken_from_all_over_the_split() -> None:
    val = splits(val=10).val
    assert [one.id for one in spread(val, 4)] == ["val-0", "val-2", "val-5", "val-7"]
    assert spread(val, 99) == list(val)
    assert spread(val, 0) == []


async def test_the_seed_is_run_on_val_and_search_and_selection_pay_only_for_the_rest(
    tmp_path: Path,
) -> None:
    task = FakeTask(lambda example, text, repeat: repeat / 2, splits(val=8))
    with Journal(tmp_path / "journal") as journal:
        runner = evaluator(task, journal)
        noise = await measure_noise(task, runner, NoiseSettings(examples=4, repeats=3))
        assert noise is not None
        assert (noise.mean, noise.between_repeats, noise.scenarios) == (0.5, 0.25, 4)
        assert task.played.total() == runner.budget.rollouts == 4 * 3
        await runner.evaluate(task.splits.val, task.seed)
        assert runner.budget.rollouts == 4 * 3 + 4
        await runner.evaluate(task.splits.val, task.seed, 1)
        assert runner.budget.rollouts == 4 * 3 + 4 + 4
    assert set(task.played.values()) == {1}


async def test_nothing_is_measured_unless_it_is_asked_for_or_can_be_paid(tmp_path: Path) -> None:
    task = FakeTask()
    with Journal(tmp_path / "journal") as journal:
        assert await measure_noise(task, evaluator(task, journal), NoiseSettings()) is None
        poor = evaluator(task, journal, rollouts=3)
        with pytest.raises(BudgetExhaustedError):
            await measure_noise(task, poor, NoiseSettings(examples=4))
    assert not task.played
