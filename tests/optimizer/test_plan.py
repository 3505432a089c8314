from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.budget import Limits
from cotune.agents.errors import UsageError
from cotune.optimizer.noise import Noise
from cotune.optimizer.plan import make_plan
from cotune.optimizer.settings import (
    EngineSettings,
    HeldOutTest,
    NoiseSettings,
    Race,
    Search,
    Selection,
)

from .tasks import FakeTask, numbered, run, splits


def _settings(
    rollouts: int, finalists: int = 2, repeats: int = 1, again: int = 1
) -> EngineSettings:
    return EngineSettings(
        limits=Limits(rollouts=rollouts),
        search=Search(minibatch=4),
        selection=Selection(finalists=finalists, repeats=repeats),
        test=HeldOutTest(repeats=again),
    )


def test_the_budget_is_divided_by_step() -> None:
    plan = make_plan(_settings(200), splits(train=20, val=10, test=15))
    assert (plan.seed, plan.per_candidate, plan.selection, plan.test) == (10, 18, 30, 30)
    assert (plan.candidates, plan.reserved, plan.search) == (7, 60, 140)


def test_a_train_split_smaller_than_the_minibatch_makes_candidates_cheaper() -> None:
    assert make_plan(_settings(200), splits(train=3)).per_candidate == 2 * 3 + 8


def test_too_small_a_budget_is_refused_with_what_would_do() -> None:
    sizes = splits(train=20, val=10, test=15)
    with pytest.raises(UsageError) as caught:
        make_plan(_settings(87), sizes)
    assert "limits.rollouts is 87" in str(caught.value)
    assert "Allow at least 88" in str(caught.value)
    assert make_plan(_settings(88), sizes).candidates == 1


def test_nothing_is_planned_without_a_limit_to_the_rollouts() -> None:
    unlimited = EngineSettings(limits=Limits(usd=1.0), search=Search(minibatch=4))
    with pytest.raises(UsageError, match=r"limits.rollouts is not set: .*Allow at least \d+"):
        make_plan(unlimited, splits())


@given(st.integers(1, 500), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_what_is_planned_is_never_more_than_the_limit(
    rollouts: int, finalists: int, repeats: int, again: int
) -> None:
    chosen = _settings(rollouts, finalists, repeats, again)
    needed = 8 + 16 + (finalists + 1) * 8 * repeats + 2 * 8 * again
    if rollouts < needed:
        with pytest.raises(UsageError, match=f"Allow at least {needed}"):
            make_plan(chosen, splits())
        return
    plan = make_plan(chosen, splits())
    used = plan.seed + plan.candidates * plan.per_candidate + plan.reserved
    assert used <= plan.total == rollouts < used + plan.per_candidate
    assert plan.candidates >= 1
    assert plan.search + plan.reserved == plan.total


def _noisy(rollouts: int, examples: int, repeats: int, again: int = 1) -> EngineSettings:
    noise = NoiseSettings(examples=examples, repeats=repeats)
    return _settings(rollouts, repeats=again).model_copy(update={"noise": noise})


def test_what_the_noise_plays_is_not_counted_again_by_search_and_selection() -> None:
    sizes = splits(train=20, val=10, test=15)
    plain, noisy = (make_plan(one, sizes) for one in (_settings(200), _noisy(200, 6, 2)))
    assert (noisy.noise, noisy.seed, noisy.selection) == (12, 10 - 6, 30 - 6)
    together = noisy.noise + noisy.seed + noisy.selection
    assert together == plain.seed + plain.selection, "two repeats cost nothing more"
    assert noisy.candidates == plain.candidates
    assert noisy.search + noisy.noise + noisy.reserved == 200


@pytest.mark.parametrize(("repeats", "again", "more"), [(3, 1, 1), (4, 1, 2), (3, 2, 0)])
def test_repeats_that_nothing_else_plays_cost_more(repeats: int, again: int, more: int) -> None:
    sizes = splits(train=20, val=10, test=15)
    plain = make_plan(_settings(300, repeats=again), sizes)
    noisy = make_plan(_noisy(300, 6, repeats, again), sizes)
    together = noisy.noise + noisy.seed + noisy.selection
    assert together == plain.seed + plain.selection + 6 * more


def test_the_noise_is_measured_on_no_more_examples_than_val_has() -> None:
    assert make_plan(_noisy(300, 99, 2), splits(val=10)).noise == 20


async def test_the_least_that_is_allowed_suffices_with_noise_too(tmp_path: Path) -> None:
    sizes = splits(train=8, val=8, test=8)
    with pytest.raises(UsageError) as caught:
        make_plan(_noisy(1, 4, 3), sizes)
    assert "measuring the noise 12, the seed on the rest of val 4" in str(caught.value)
    needed = int(str(caught.value).split("Allow at least ")[1].split(",")[0])
    task = FakeTask(lambda example, text, repeat: 0.5 + 0.4 * (text != "Help."), splits=sizes)
    result = await run(task, tmp_path / "journal", numbered(), _noisy(needed, 4, 3))
    assert result.winner.number == 1
    assert result.held_out is not None
    assert task.played.total() <= needed


def test_a_race_is_planned_for_as_long_as_it_may_last() -> None:
    def planned(train: int, most: int) -> int:
        search = Search(minibatch=4, acceptance="race", race=Race(most=most))
        chosen = _settings(400).model_copy(update={"search": search})
        return make_plan(chosen, splits(train=train)).per_candidate

    assert planned(train=60, most=48) == 2 * 48 + 8
    assert planned(train=20, most=48) == 2 * 20 + 8
    assert planned(train=20, most=2) == 2 * 4 + 8, "the minibatch is played anyway"


def test_the_detectable_difference_is_that_of_the_test() -> None:
    noise, sizes = Noise(0.5, 0.04, 0.06, 8, 2), splits(test=15)
    plan = make_plan(_settings(200, again=2), sizes, noise)
    assert plan.detectable == noise.detectable(15, 2)
    assert make_plan(_settings(200), sizes).detectable is None
