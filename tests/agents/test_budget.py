from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cotune.agents.budget import Budget, BudgetExhaustedError, Limits
from cotune.agents.ledger import Usage


@given(st.integers(1, 200), st.integers(0, 50), st.lists(st.integers(1, 30), max_size=40))
def test_rollouts_never_exceed_the_limit_less_the_reserve(
    limit: int, reserved: int, steps: list[int]
) -> None:
    budget = Budget(Limits(rollouts=limit))
    budget.reserve(reserved)
    for step in steps:
        before = budget.rollouts
        try:
            budget.take(step)
        except BudgetExhaustedError:
            assert before + step + reserved > limit
            assert budget.rollouts == before
        else:
            assert budget.rollouts == before + step
    assert budget.rollouts + reserved <= limit or budget.rollouts == 0


def test_released_reserve_can_be_spent() -> None:
    budget = Budget(Limits(rollouts=10))
    budget.reserve(8)
    budget.take(2)
    with pytest.raises(BudgetExhaustedError, match="8 are held back"):
        budget.take(1)
    budget.reserve(0)
    budget.take(8)
    assert budget.rollouts == 10


def test_calls_stop_at_the_token_limit() -> None:
    budget = Budget(Limits(rollouts=10, tokens=100))
    budget.add(Usage(input_tokens=90, output_tokens=9))
    budget.check_call()
    budget.add(Usage(output_tokens=1))
    with pytest.raises(BudgetExhaustedError, match="100 of 100 tokens"):
        budget.check_call()


def test_calls_stop_at_the_money_limit() -> None:
    budget = Budget(Limits(rollouts=10, usd=0.5))
    budget.add(Usage(cost=0.49))
    budget.check_call()
    budget.add(Usage(cost=0.01))
    with pytest.raises(BudgetExhaustedError, match=r"\$0\.5000 of \$0\.5000"):
        budget.check_call()


def test_rollouts_leave_money_for_those_held_back() -> None:
    budget = Budget(Limits(rollouts=100, usd=1.0), reserved=30)
    budget.take(10)
    budget.add(Usage(cost=0.24))
    budget.take(1)
    assert budget.rollouts == 11
    budget.add(Usage(cost=0.04))
    with pytest.raises(BudgetExhaustedError):
        budget.take(1)
    budget.check_call()


def test_rollouts_leave_tokens_for_those_held_back() -> None:
    budget = Budget(Limits(rollouts=100, tokens=1000), reserved=30)
    budget.take(10)
    budget.add(Usage(input_tokens=250))
    with pytest.raises(BudgetExhaustedError, match="250 of 1,000 tokens are used, and 31 rollouts"):
        budget.take(1)
    assert budget.rollouts == 10
    budget.reserve(0)
    budget.take(1)


def test_without_limits_on_them_tokens_and_money_are_free() -> None:
    budget = Budget(Limits(rollouts=1))
    budget.add(Usage(input_tokens=10**12, cost=10**6))
    budget.check_call()
    budget.take(1)
    assert budget.rollouts == 1


def test_rollouts_without_a_limit_are_counted() -> None:
    budget = Budget(Limits())
    budget.take(10**6)
    assert budget.rollouts == 10**6


@pytest.mark.parametrize(
    "limits", [{"rollouts": 0}, {"rollouts": 1, "usd": 0}, {"rollouts": 1, "euros": 3}]
)
def test_senseless_limits_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(limits)


def test_room_is_refused_when_those_in_flight_will_use_up_what_is_left() -> None:
    budget = Budget(Limits(rollouts=100, tokens=1000))
    ended = Usage(calls=4, input_tokens=400)
    budget.require_room(Usage(), 0, 50)
    budget.require_room(ended, 4, 5)
    with pytest.raises(BudgetExhaustedError, match="6 are in flight"):
        budget.require_room(ended, 4, 6)
