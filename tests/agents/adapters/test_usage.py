"""What frameworks' own calls use is counted, priced where the price is known, from any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from cotune.agents.adapters.adapter import Means
from cotune.agents.adapters.usage import cost_of, record_usage
from cotune.agents.budget import Budget, BudgetExhaustedError, Limits
from cotune.agents.ledger import Ledger, Role, charged_to


@pytest.mark.parametrize("model", ["gpt-4.1-mini", "openai/gpt-4.1-mini", "claude-sonnet-4-5"])
def test_known_models_have_a_price(model: str) -> None:
    cost = cost_of(model, 1_000_000, 0)
    assert cost is not None
    assert 0 < cost < cost_of(model, 1_000_000, 1_000_000)  # type: ignore[operator]


def test_a_model_without_a_price_is_counted_as_unpriced() -> None:
    ledger = Ledger()
    record_usage(Means(ledger), "search", "our-own-model", 10, 5)
    record_usage(Means(ledger), "search", "gpt-4.1-mini", None, None)
    used = ledger.totals[Role.TASK, "search"]
    assert (used.calls, used.unpriced, used.tokens, used.cost) == (2, 2, 15, 0)


def test_usage_is_charged_to_the_conversation_and_the_agent_at_work() -> None:
    ledger = Ledger()
    with charged_to(key="talk-1", agent="concierge"):
        record_usage(Means(ledger), "", "gpt-4.1-mini", 10, 5)
    assert list(ledger.collect_parts("talk-1")) == [(Role.TASK, "concierge")]


def test_the_budget_counts_it() -> None:
    budget = Budget(Limits(tokens=20))
    record_usage(Means(Ledger(), budget=budget), "search", "gpt-4.1-mini", 15, 5)
    with pytest.raises(BudgetExhaustedError):
        budget.check_call()


def test_nothing_is_lost_between_threads() -> None:
    means = Means(Ledger(), budget=Budget(Limits()))
    with ThreadPoolExecutor(16) as pool:
        for _ in range(2000):
            pool.submit(record_usage, means, "search", "gpt-4.1-mini", 1, 1)
    assert means.ledger.total.calls == 2000
    assert means.budget is not None
    assert means.budget.usage.tokens == 4000
