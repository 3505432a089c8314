"""A provider that refuses gets fewer calls, one that answers gets more, and nobody is forgotten."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from dspy.lm15 import Message, Request, Response

from cotune.agents.adaptive_limit import AdaptiveLimit, ProviderLimits
from cotune.agents.errors import FaultError
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.scripted.faults import RETRY_AFTER


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def answered(limit: AdaptiveLimit, calls: int) -> None:
    for _ in range(calls):
        limit.answered(await limit.acquire())
        limit.release()


async def test_no_more_calls_than_allowed_are_in_flight() -> None:
    limit = AdaptiveLimit(3)
    callers = [asyncio.create_task(limit.acquire()) for _ in range(5)]
    await settle()
    assert [caller.done() for caller in callers] == [True, True, True, False, False]
    limit.release()
    await settle()
    assert [caller.done() for caller in callers] == [True, True, True, True, False]
    limit.release()
    await settle()
    assert all(caller.done() for caller in callers)
    assert limit.in_flight == 3


async def test_a_refusal_halves_the_limit_once_per_round_trip() -> None:
    limit = AdaptiveLimit(16)
    rounds = [await limit.acquire() for _ in range(16)]
    for round_ in rounds:
        limit.refused(round_, None)
        limit.release()
    assert limit.allowed == 8
    limit.refused(await limit.acquire(), None)
    assert limit.allowed == 4


async def test_the_limit_never_falls_below_one_call() -> None:
    limit = AdaptiveLimit(2)
    for _ in range(5):
        limit.refused(await limit.acquire(), None)
        limit.release()
    assert limit.allowed == 1
    await asyncio.wait_for(limit.acquire(), 1)


async def test_a_round_of_answers_adds_about_one_call() -> None:
    limit = AdaptiveLimit(16)
    limit.refused(await limit.acquire(), None)
    limit.release()
    for allowed in (8, 9, 10):
        assert limit.allowed == allowed
        await answered(limit, allowed + 1)
    await answered(limit, 500)
    assert limit.allowed == 16, "and never more than was set"


async def test_answers_to_calls_from_before_a_refusal_add_nothing() -> None:
    limit = AdaptiveLimit(8)
    rounds = [await limit.acquire() for _ in range(8)]
    limit.refused(rounds[0], None)
    for round_ in rounds[1:]:
        limit.answered(round_)
    assert limit.allowed == 4


async def test_after_a_refusal_those_in_line_wait_until_the_lower_limit_has_room() -> None:
    limit = AdaptiveLimit(4)
    rounds = [await limit.acquire() for _ in range(4)]
    waiting = asyncio.create_task(limit.acquire())
    limit.refused(rounds[0], None)
    for _ in range(2):
        limit.release()
    await settle()
    assert not waiting.done()
    limit.release()
    await settle()
    assert waiting.done()


async def test_retry_after_holds_everybody_back_and_then_lets_them_go() -> None:
    limit = AdaptiveLimit(4)
    loop = asyncio.get_running_loop()
    start = loop.time()
    limit.refused(await limit.acquire(), 0.03)
    limit.release()
    callers = [asyncio.create_task(limit.acquire()) for _ in range(2)]
    await settle()
    assert not any(caller.done() for caller in callers)
    await asyncio.gather(*callers)
    assert loop.time() - start >= 0.03


async def test_slots_are_given_in_the_order_they_were_asked_for() -> None:
    limit, served = AdaptiveLimit(1), list[int]()

    async def call(number: int) -> None:
        await limit.acquire()
        served.append(number)
        await asyncio.sleep(0)
        limit.release()

    await asyncio.gather(*(call(number) for number in range(20)))
    assert served == list(range(20))


async def test_a_caller_that_gives_up_leaves_no_trace() -> None:
    limit = AdaptiveLimit(1)
    await limit.acquire()
    gone, admitted, last = (asyncio.create_task(limit.acquire()) for _ in range(3))
    await settle()
    gone.cancel()
    limit.release()  # admits the next one, which is cancelled before it runs again
    admitted.cancel()
    await settle()
    assert gone.cancelled()
    assert admitted.cancelled()
    assert last.done()
    limit.release()
    assert limit.in_flight == 0


async def test_a_caller_that_gives_up_during_a_pause_gives_its_slot_back() -> None:
    limit = AdaptiveLimit(1)
    limit.refused(await limit.acquire(), 60)
    limit.release()
    caller = asyncio.create_task(limit.acquire())
    await settle()
    assert limit.in_flight == 1
    caller.cancel()
    await settle()
    assert limit.in_flight == 0


@pytest.mark.parametrize("seed", range(5))
async def test_whatever_happens_every_slot_comes_back_and_every_caller_gets_one(seed: int) -> None:
    chance, limit, served = random.Random(seed), AdaptiveLimit(6), 0

    async def call() -> None:
        nonlocal served
        round_ = await limit.acquire()
        try:
            assert limit.in_flight <= 6
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            if chance.random() < 0.3:
                limit.refused(round_, chance.choice([None, 0.001]))
            else:
                limit.answered(round_)
            served += 1
        finally:
            limit.release()

    callers = [asyncio.create_task(call()) for _ in range(200)]
    for caller in chance.sample(callers, 40):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.wait_for(asyncio.wait(callers), 10)
    cancelled = sum(caller.cancelled() for caller in callers)
    assert served >= 200 - cancelled
    assert limit.in_flight == 0


def test_models_of_one_provider_share_a_limit_and_the_largest_setting_holds() -> None:
    limits = ProviderLimits()
    small = limits.of(ModelSettings(model="openai/gpt-4.1-mini", concurrency=4))
    assert limits.of(ModelSettings(model="openai/gpt-4.1", concurrency=9)) is small
    assert small.allowed == 9
    own = ModelSettings(model="openai/tiny", api_base="http://127.0.0.1:1/v1")
    assert limits.of(own) is not small
    local = ModelSettings(model="local:tiny")
    assert limits.of(local, "http://127.0.0.1:2/v1") is not limits.of(
        local, "http://127.0.0.1:3/v1"
    )


class Crowded(LanguageModel):
    """Counts its calls in flight over all its instances."""

    in_flight = most = 0

    async def _send(self, request: Request) -> Response:
        Crowded.in_flight += 1
        Crowded.most = max(Crowded.most, Crowded.in_flight)
        try:
            await asyncio.sleep(0)
            return await super()._send(request)
        finally:
            Crowded.in_flight -= 1


async def test_a_refused_task_model_slows_the_user_model_of_the_same_provider_down() -> None:
    limits, ledger = ProviderLimits(), Ledger()

    def model(role: Role, failures: str) -> Callable[[int], asyncio.Future[object]]:
        settings = ModelSettings(
            model=f"scripted:grocery{failures}", concurrency=8, attempts=20, max_wait=0
        )
        lm = Crowded(settings, role, ledger, limits=limits)
        return lambda number: asyncio.ensure_future(
            lm.acall(Request(model=lm.model, messages=(Message.user(str(number)),)))
        )

    task, user = model(Role.TASK, "?rate_limit=0.5"), model(Role.USER, "")
    await asyncio.gather(*(user(number) for number in range(20)))
    assert Crowded.most == 8
    await asyncio.gather(*(task(number) for number in range(20)))
    assert ledger.totals[Role.TASK, ""].attempts > 20
    Crowded.most = 0
    await asyncio.gather(*(user(number) for number in range(4)), task(99))
    assert Crowded.most < 5


async def test_the_provider_decides_how_long_all_wait_up_to_what_the_settings_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[float | None]()
    monkeypatch.setattr(
        AdaptiveLimit, "refused", lambda limit, round_, retry_after: asked.append(retry_after)
    )
    for failure in ("rate_limit", "server_error"):
        settings = ModelSettings(
            model=f"scripted:grocery?{failure}=1", attempts=2, max_wait=RETRY_AFTER / 5
        )
        with pytest.raises(FaultError):
            await LanguageModel(settings, Role.TASK, Ledger()).acall("hi")
    assert asked == [RETRY_AFTER / 5] * 2, "other failures say nothing about too many calls"
