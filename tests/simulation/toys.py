"""Toy assistants and runs for tests of the simulator; no model, and every call is recorded."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.budget import Budget, Limits
from cotune.agents.errors import Fault, FaultError, FaultOrigin
from cotune.agents.ledger import (
    Ledger,
    LedgerEntry,
    Role,
    Sent,
    Usage,
    current_attribution,
)
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.simulation.conversation import ConversationLimits
from cotune.simulation.engines.in_process import InProcess
from cotune.simulation.journal import Journal
from cotune.simulation.observer import SimulationObserver, Unwatched
from cotune.simulation.played import Played
from cotune.simulation.player import Player
from cotune.simulation.scenario import Scenario
from cotune.simulation.simulator import Simulator
from cotune.simulation.users.fixed import FixedUsers
from cotune.simulation.work import Work, Workload

PROMPTS = PromptBundle.of(Prompt("echo", "Repeat."))
BUSY = Fault(FaultOrigin.PROVIDER, "rate_limit", "5 attempts")
PER_TURN = Usage(calls=1, attempts=1, input_tokens=10, output_tokens=5, cost=0.01)

Fails = Callable[[str, int], Exception | None]
"""By scenario and how often it was played before."""


@dataclass
class ToySession:
    assistant: ToyAssistant
    scenario: str
    seed: int
    attempt: int
    said: list[str] = field(default_factory=list)

    async def reply(self, message: str) -> Reply:
        await asyncio.sleep(self.assistant.delay())
        sent = Sent("toy", None, None, self.seed)
        charged = current_attribution().key
        entry = LedgerEntry(Role.TASK, "echo", charged, sent, PER_TURN, 0.0)
        self.assistant.ledger.record(entry)
        self.assistant.budget.add(PER_TURN)
        if error := self.assistant.fails(self.scenario, self.attempt):
            raise error
        self.said.append(message)
        calls = (
            AgentCall("echo", {"message": message}, {"reply": message}),
            ToolCall("say", "echo", {"seed": self.seed}, None),
        )
        return Reply(f"{message} {self.seed}", calls)

    def state(self) -> Mapping[str, Any]:
        return {"said": list(self.said)}


@dataclass
class ToyAssistant:
    """Repeats what it is told; counts conversations, and fails where told."""

    ledger: Ledger
    budget: Budget
    fails: Fails = lambda scenario, attempt: None
    delay: Callable[[], float] = lambda: 0.0
    played: Counter[str] = field(default_factory=Counter)
    seeds: dict[str, list[int]] = field(default_factory=dict)

    @property
    def prompts(self) -> PromptBundle:
        return PROMPTS

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int
    ) -> ToySession:
        scenario = scenario_state["id"]
        attempt = self.played[scenario]
        self.played[scenario] += 1
        self.seeds.setdefault(scenario, []).append(seed)
        return ToySession(self, scenario, seed, attempt)


@dataclass
class Run:
    """One invocation of a command: a simulator with what counts and limits it."""

    journal: Journal
    fails: Fails = lambda scenario, attempt: None
    delay: Callable[[], float] = lambda: 0.0
    rollouts: int = 10_000
    concurrency: int = 4
    threshold: float = 0.05
    observer: SimulationObserver = field(default_factory=Unwatched)

    def __post_init__(self) -> None:
        self.ledger = Ledger()
        self.budget = Budget(Limits(rollouts=self.rollouts))
        self.assistant = ToyAssistant(self.ledger, self.budget, self.fails, self.delay)
        users = FixedUsers(["a", "b"])
        player = Player(self.assistant, users, ConversationLimits(), self.ledger, "toy")
        self.simulator = Simulator(
            engine=InProcess(player, self.concurrency),
            identity=player.identity,
            journal=self.journal,
            ledger=self.ledger,
            budget=self.budget,
            observer=self.observer,
            fault_threshold=self.threshold,
        )

    def ended(self, work: Iterable[Work]) -> list[Played]:
        return list(self.simulator.ended(work))


def scenarios(count: int) -> list[Scenario]:
    return [
        Scenario(id=f"s{number}", family="f", goal="g", initial_state={"id": f"s{number}"})
        for number in range(count)
    ]


def workload(count: int, repeats: int = 1, seed: int = 0) -> Workload:
    return Workload(scenarios(count), PROMPTS, repeats, seed)


def broken(scenarios: Iterable[str], fault: Fault = BUSY, times: int = 99) -> Fails:
    """Fail the first `times` attempts at these scenarios."""
    chosen = frozenset(scenarios)
    return lambda scenario, attempt: (
        FaultError(fault) if scenario in chosen and attempt < times else None
    )
