"""Recorded sessions: what belongs to a turn, and which failures are whose."""

from __future__ import annotations

import asyncio
import urllib.request
from typing import Any
from urllib.error import HTTPError, URLError

import dspy.utils.exceptions as of_dspy
import httpx
import openai
import pytest
import requests

from cotune.agents.adapters.outage import outage_of
from cotune.agents.adapters.session import RecordedSession
from cotune.agents.assistant import AgentCall, ToolCall
from cotune.agents.budget import BudgetExhaustedError
from cotune.agents.errors import FaultError, FaultOrigin
from cotune.agents.recording import agent_call, recording, tool_call

_REQUEST = httpx.Request("POST", "http://localhost")


def status_error(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=_REQUEST, response=httpx.Response(status))


def raise_for(status: int) -> None:
    raise status_error(status)


def refused(status: int) -> requests.HTTPError:
    response = requests.Response()
    response.status_code = status
    return requests.HTTPError("no", response=response)


class Raising(RecordedSession):
    def __init__(self, error: BaseException) -> None:
        super().__init__({})
        self.error = error

    async def answer(self, message: str) -> str:
        raise RuntimeError("the framework gave up") from self.error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (openai.APIConnectionError(request=_REQUEST), "connection"),  # type: ignore[arg-type]
        (httpx.ReadTimeout("slow"), "timeout"),
        (httpx.ConnectError("down"), "connection"),
        (status_error(429), "rate_limit"),
        (status_error(503), "provider_error"),
        (status_error(401), "refused"),
        (requests.ConnectionError("down"), "connection"),
        (requests.Timeout("slow"), "timeout"),
        (refused(500), "provider_error"),
        (HTTPError("http://localhost", 502, "bad", {}, None), "provider_error"),  # type: ignore[arg-type]
        (URLError(TimeoutError()), "timeout"),
        (ConnectionResetError("reset"), "connection"),
        (of_dspy.LMRateLimitError("busy"), "rate_limit"),
        (of_dspy.LMServerError("down", status=500), "provider_error"),
        (of_dspy.LMTransportError("gone"), "connection"),
    ],
)
async def test_an_outage_is_the_providers_fault_however_it_is_wrapped(
    error: Exception, kind: str
) -> None:
    with pytest.raises(FaultError) as failed:
        await Raising(error).reply("hi")
    fault = failed.value.fault
    assert (fault.origin, fault.kind) == (FaultOrigin.PROVIDER, kind)
    assert type(error).__name__ in fault.message


async def test_an_outage_among_tasks_that_failed_together_is_found() -> None:
    group = ExceptionGroup("two", [KeyError("mine"), httpx.ConnectError("down")])
    with pytest.raises(FaultError):
        await Raising(group).reply("hi")


@pytest.mark.parametrize(
    "error", [ValueError("a defect"), FileNotFoundError("prices.csv"), of_dspy.DSPyError("odd")]
)
def test_a_defect_is_no_outage(error: Exception) -> None:
    assert outage_of(error) is None


def test_a_prompt_that_is_too_long_is_no_outage() -> None:
    assert outage_of(of_dspy.ContextWindowExceededError(message="too long")) is None


async def test_what_was_put_aside_on_purpose_is_no_outage() -> None:
    class Aside(RecordedSession):
        async def answer(self, message: str) -> str:
            try:
                raise_for(503)
            except httpx.HTTPStatusError:
                raise LookupError("a defect of its own") from None
            return message

    with pytest.raises(LookupError):
        await Aside({}).reply("hi")


async def test_our_own_errors_come_through_a_frameworks_wrapping() -> None:
    with pytest.raises(BudgetExhaustedError):
        await Raising(BudgetExhaustedError("all is spent")).reply("hi")


async def test_turns_of_conversations_side_by_side_are_recorded_apart() -> None:
    class Telling(RecordedSession):
        async def answer(self, message: str) -> str:
            with agent_call("outer", message=message):
                await asyncio.sleep(0)
                with agent_call("inner"):
                    tool_call("look", {"at": message})
                    await asyncio.sleep(0)
            return message

    replies = await asyncio.gather(*(Telling({}).reply(str(n)) for n in range(20)))
    for number, reply in enumerate(replies):
        assert reply.calls == (
            ToolCall("look", "inner", {"at": str(number)}, None),
            AgentCall("inner", {}, {}),
            AgentCall("outer", {"message": str(number)}, {}),
        )


def failing() -> None:
    with agent_call("search", wish="milk"):
        tool_call("look", {"for": "milk"})
        raise KeyError("no such product")


def test_an_agent_that_fails_is_recorded() -> None:
    with recording() as done, pytest.raises(KeyError):
        failing()
    assert done.calls == [
        ToolCall("look", "search", {"for": "milk"}, None),
        AgentCall("search", {"wish": "milk"}, {}),
    ]


def test_outside_a_conversation_the_same_code_runs() -> None:
    with pytest.raises(KeyError, match="no such product"):
        failing()


async def test_the_world_is_a_copy_in_json() -> None:
    class Quiet(RecordedSession):
        async def answer(self, message: str) -> str:
            return message

    world: dict[str, Any] = {"cart": [{"when": urllib.request}], "total": float("nan")}
    session = Quiet(world)
    session.world["cart"].append(1)
    assert len(world["cart"]) == 1
    assert session.state()["total"] is None
    assert str(urllib.request) == session.state()["cart"][0]["when"]
