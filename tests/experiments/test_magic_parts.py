"""The parts of the comparison that need no run: budgets, time, and what counts as overfit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.budget import BudgetExhaustedError, Limits
from cotune.experiments.magic.arms import WHOLE, Arm, part_of, stages
from cotune.experiments.magic.clock import Clock, TimedBudget
from cotune.experiments.magic.curves import CurvePoint, chosen_by_val, overfits


@given(st.integers(1, 5000), st.integers(1, 9))
def test_no_arm_may_spend_more_than_another(rollouts: int, count: int) -> None:
    agents = tuple(f"agent{number}" for number in range(count))
    found = stages(rollouts, agents)
    spent = {arm: sum(one.rollouts for one in found if one.arm is arm) for arm in Arm}
    assert spent[Arm.TOGETHER] == rollouts
    assert all(rollouts - count < spent[arm] <= rollouts for arm in (Arm.ALONE, Arm.BOTH))
    assert spent[Arm.SEED] == 0
    assert [one.arm for one in found if one.node == WHOLE] == [Arm.TOGETHER, Arm.BOTH]


def test_limits_on_tokens_and_money_are_shared_out() -> None:
    limits = Limits(rollouts=10, tokens=1000, usd=2.0)
    assert part_of(limits, 0.25, 7) == Limits(rollouts=7, tokens=250, usd=0.5)
    assert part_of(Limits(rollouts=10), 0.25, 7) == Limits(rollouts=7)


def test_what_a_stage_leaves_of_the_time_the_later_ones_have() -> None:
    seconds = iter((0.0, 0.0, 12.0))
    clock = Clock(minutes=1.0, ahead=100, now=lambda: next(seconds))
    assert clock.grant(50) == 30
    assert clock.grant(25) == 24, "half of what is left"
    assert Clock(minutes=None, ahead=10).grant(5) is None


def test_a_timed_budget_refuses_what_would_last_too_long() -> None:
    seconds = iter((0.0, 0.0, 10.0, 20.0))
    budget = TimedBudget(Limits(rollouts=1000), most_seconds=50, now=lambda: next(seconds))
    budget.take(10)
    budget.reserve(5)
    budget.take(10)  # one second each: 10 are over, 15 rollouts are ahead
    with pytest.raises(BudgetExhaustedError, match="20 of 50 seconds are over, and 35 rollouts"):
        budget.take(30)
    assert budget.rollouts == 20
    TimedBudget(Limits(rollouts=1000)).take(1000)


def point(candidate: int, val: float, held_out: float) -> CurvePoint:
    return CurvePoint(candidate=candidate, rollouts=10 * candidate, val=val, held_out=held_out)


def test_overfit_is_what_val_chose_and_held_out_calls_worse_than_the_start() -> None:
    curve = [
        point(0, 0.5, 0.6),
        point(1, 0.7, 0.7),
        point(2, 0.6, 0.1),  # never the best by val
        point(3, 0.8, 0.5),
    ]
    assert chosen_by_val(curve) == [curve[0], curve[1], curve[3]]
    assert overfits(curve) == [curve[3]]
    assert overfits([]) == []
