from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.budget import Limits
from cotune.agents.errors import UsageError
from cotune.optimizer.plan import make_plan
from cotune.optimizer.settings import EngineSettings, HeldOutTest, Search, Selection

from .tasks import splits


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
