"""A conversation becomes a whole trajectory, or a fault that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.errors import CotuneError, Fault, FaultError, FaultOrigin
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.simulation.conversation import converse
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason
from cotune.simulation.users.fixed import FixedUsers

SCENARIO = Scenario(id="s1", family="f", goal="some milk", initial_state={"said": ["hello"]})
PROMPTS = PromptBundle.of(Prompt("echo", "Repeat."))
RATE_LIMIT = Fault(FaultOrigin.PROVIDER, "rate_limit", "5 attempts")


@dataclass
class EchoSession:
    prompt: str
    said: list[str]
    failures: Mapping[str, Exception]

    async def reply(self, message: str) -> Reply:
        if message in self.failures:
            raise self.failures[message]
        self.said.append(message)
        calls = (AgentCall("echo", {"message": message}, {}), ToolCall("say", "echo", {}, None))
        return Reply(f"{self.prompt} {message}", calls)

    def state(self) -> Mapping[str, Any]:
        return {"said": list(self.said)}


@dataclass
class EchoAssistant:
    failures: Mapping[str, Exception] = field(default_factory=dict)

    @property
    def prompts(self) -> PromptBundle:
        return PROMPTS

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int
    ) -> EchoSession:
        return EchoSession(prompts["echo"].text, list(scenario_state["said"]), self.failures)


async def test_every_turn_is_recorded_with_the_state_after_it() -> None:
    trajectory = await converse(EchoAssistant(), PROMPTS, SCENARIO, FixedUsers(["a", "b"]))
    assert trajectory.scenario == "s1"
    assert trajectory.stop is StopReason.SCRIPT_ENDED
    assert trajectory.fault is None
    assert trajectory.initial_state == {"said": ["hello"]}
    assert [turn.reply.text for turn in trajectory.turns] == ["Repeat. a", "Repeat. b"]
    assert [turn.state for turn in trajectory.turns] == [
        {"said": ["hello", "a"]},
        {"said": ["hello", "a", "b"]},
    ]
    assert trajectory.final_state == trajectory.turns[-1].state
    assert [turn for turn, _ in trajectory.agent_calls()] == [0, 1]
    assert [call.tool for _, call in trajectory.tool_calls()] == ["say", "say"]


async def test_the_prompts_given_are_the_ones_used() -> None:
    changed = PROMPTS.with_texts({"echo": "Sing."})
    trajectory = await converse(EchoAssistant(), changed, SCENARIO, FixedUsers(["a"]))
    assert trajectory.turns[0].reply.text == "Sing. a"


async def test_a_fault_ends_the_conversation_and_is_not_a_short_success() -> None:
    assistant = EchoAssistant({"b": FaultError(RATE_LIMIT)})
    trajectory = await converse(assistant, PROMPTS, SCENARIO, FixedUsers(["a", "b", "c"]))
    assert trajectory.stop is StopReason.FAULT
    assert trajectory.fault == RATE_LIMIT
    assert [turn.message for turn in trajectory.turns] == ["a"]
    assert trajectory.final_state == {"said": ["hello", "a"]}
    assert trajectory.metadata == {"unanswered": "b"}


async def test_a_defect_of_the_assistants_code_is_a_fault_that_never_scores(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assistant = EchoAssistant({"a": KeyError("price")})
    trajectory = await converse(assistant, PROMPTS, SCENARIO, FixedUsers(["a"]))
    assert trajectory.fault is not None
    assert trajectory.fault.origin is FaultOrigin.INFRASTRUCTURE
    assert "KeyError" in trajectory.fault.message
    assert caplog.records[0].exc_info, "whoever repairs it needs the traceback"


async def test_what_ends_the_run_is_raised_on() -> None:
    assistant = EchoAssistant({"a": CotuneError("no credit")})
    with pytest.raises(CotuneError, match="no credit"):
        await converse(assistant, PROMPTS, SCENARIO, FixedUsers(["a"]))
