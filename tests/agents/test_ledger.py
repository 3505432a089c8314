from __future__ import annotations

import asyncio

from cotune.agents.ledger import (
    Attribution,
    Ledger,
    LedgerEntry,
    Role,
    Sent,
    Usage,
    charged_to,
    current_attribution,
)

SENT = Sent("openai/m", 0.0, 512, 1, "Route")


def _entry(
    agent: str = "cart",
    key: str = "",
    role: Role = Role.TASK,
    usage: Usage = Usage(1, 2, 10, 3, 0.5),  # noqa: B008
    error: str = "",
) -> LedgerEntry:
    return LedgerEntry(role, agent, key, SENT, usage, 0.1, error)


def test_usage_adds_field_by_field() -> None:
    total = Usage(1, 2, 3, 4, 0.5, 1, 0) + Usage(10, 20, 30, 40, 5.0, 0, 2)
    assert total == Usage(11, 22, 33, 44, 5.5, 1, 2)
    assert total.tokens == 77


def test_usage_survives_the_journal() -> None:
    usage = Usage(1, 2, 3, 4, 0.5, 1, 0)
    assert Usage(**usage.to_json()) == usage


def test_totals_are_kept_by_role_and_agent() -> None:
    ledger = Ledger()
    for entry in (_entry(), _entry(), _entry("search"), _entry("", role=Role.JUDGE)):
        ledger.record(entry)
    assert ledger.totals[Role.TASK, "cart"] == Usage(2, 4, 20, 6, 1.0)
    assert ledger.by_role()[Role.TASK].calls == 3
    assert ledger.by_role()[Role.JUDGE].calls == 1
    assert ledger.total == Usage(4, 8, 40, 12, 2.0)


def test_what_was_sent_and_what_failed_are_kept() -> None:
    ledger = Ledger()
    ledger.record(_entry(usage=Usage(attempts=3), error="timeout"))
    assert ledger.sent[Role.TASK, "cart", "openai/m"] == SENT
    assert ledger.errors == {"timeout": 1}
    assert ledger.total.calls == 0


def test_work_is_collected_once() -> None:
    ledger = Ledger()
    ledger.record(_entry(key="a"))
    ledger.record(_entry("search", key="a"))
    ledger.record(_entry(key="b"))
    assert ledger.collect("a").calls == 2
    assert ledger.collect("a") == Usage()
    assert ledger.collect("b").calls == 1
    assert ledger.total.calls == 3


def test_replayed_work_counts_and_is_marked() -> None:
    ledger = Ledger()
    ledger.replay(Role.TASK, "cart", Usage(2, 3, 10, 5, 0.5))
    assert ledger.total == Usage(2, 3, 10, 5, 0.5, replayed=2)


def test_charges_nest_and_end() -> None:
    with charged_to(key="work"):
        with charged_to(agent="cart"):
            assert current_attribution() == Attribution("cart", "work")
        assert current_attribution() == Attribution("", "work")
    assert current_attribution() == Attribution()


async def test_charges_of_concurrent_work_do_not_mix() -> None:
    async def work(key: str) -> str:
        with charged_to(key=key):
            await asyncio.sleep(0)
            with charged_to(agent=f"agent-{key}"):
                await asyncio.sleep(0)
                charged = current_attribution()
            return f"{charged.agent} {charged.key}"

    keys = [str(number) for number in range(20)]
    assert await asyncio.gather(*map(work, keys)) == [f"agent-{key} {key}" for key in keys]


def test_usage_of_work_is_collected_by_role_and_agent() -> None:
    ledger = Ledger()
    for agent in ("cart", "router", "cart"):
        ledger.record(_entry(agent, key="work"))
    parts = ledger.collect_parts("work")
    assert parts == ledger.totals
    assert parts[Role.TASK, "cart"].calls == 2
    assert ledger.collect_parts("work") == {}


def test_usage_of_another_process_is_added_and_not_counted_as_replayed() -> None:
    ledger = Ledger()
    ledger.add({(Role.TASK, "cart"): Usage(calls=2), (Role.USER, ""): Usage(calls=1)})
    ledger.add({(Role.TASK, "cart"): Usage(calls=1)})
    assert ledger.totals == {(Role.TASK, "cart"): Usage(calls=3), (Role.USER, ""): Usage(calls=1)}
    assert ledger.total.replayed == 0
