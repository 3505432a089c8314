"""A tiny task whose rollouts are computed from the prompt's text, and runs of the real engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.budget import Budget, Limits
from cotune.agents.errors import Fault, FaultOrigin
from cotune.agents.fingerprint import fingerprint
from cotune.agents.ledger import Ledger, LedgerEntry, Role, Sent, Usage, current_attribution
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.experiments.run_record import RunAbout, RunRecord, record_of
from cotune.optimizer.engine import Engine
from cotune.optimizer.example import RecordedCall, Splits
from cotune.optimizer.proposers.lessons import LessonsProposer
from cotune.optimizer.result import RunResult
from cotune.optimizer.rollout import Lesson, Rollout
from cotune.optimizer.settings import EngineSettings, Search, Selection
from cotune.rubrics.rubric import Rubric
from cotune.simulation.journal import Journal

KINDS = ("find", "add", "remove", "pay")
HOSTILE = "<script>alert('x')</script>"
VERSIONS = {"cotune": "0.1.0", "python": "3.11.0", "dspy": "3.4.1", "gepa": "0.1.4"}

RUBRIC = Rubric.model_validate(
    {
        "id": "routing",
        "name": "Routing",
        "subject": "call",
        "domains": [{"id": "route", "name": "Route", "weight": 100}],
        "criteria": [
            {
                "id": "right_agent",
                "name": "The right agent gets the message",
                "domain": "route",
                "points": 3,
                "passes": "It does.",
                "fails": "It does not.",
                "check": {"name": "equals", "field": "agent"},
            },
            {
                "id": "harmless",
                "name": "Nothing is paid by mistake",
                "domain": "route",
                "points": 0,
                "critical": True,
                "passes": "Nothing is.",
                "fails": "Something is.",
                "check": {"name": "equals", "field": "paid"},
            },
            {
                "id": "tone",
                "name": "The tone is right",
                "domain": "route",
                "points": 1,
                "passes": "It is.",
                "fails": "It is not.",
                "judged": True,
            },
        ],
    }
)


def rule(kind: str) -> str:
    return f"A message to {kind} something goes to the {kind} agent."


def _examples(split: str, count: int) -> list[RecordedCall]:
    return [
        RecordedCall(
            id=f"{split}-{number}",
            family=f"{split}-family-{number}",
            inputs={"message": f"{split} {number}"},
            gold={"agent": KINDS[number % len(KINDS)]},
            why=rule(KINDS[number % len(KINDS)]),
        )
        for number in range(count)
    ]


@dataclass
class RoutingTask:
    """Right where the prompt holds the rule of the example's kind, else right one time in four."""

    helps: bool = True
    lost: frozenset[str] = frozenset()
    text: str = "Send the message to an agent."
    ledger: Ledger = field(default_factory=Ledger)
    name: str = "routing"
    concurrency: int = 4
    splits: Splits = field(
        default_factory=lambda: Splits(
            _examples("train", 16), _examples("val", 16), _examples("test", 40)
        )
    )

    @property
    def seed(self) -> PromptBundle:
        return PromptBundle.of(Prompt("router", self.text, "Routes messages."))

    def identity(self) -> Mapping[str, Any]:
        return {"task": "routing", "helps": self.helps}

    def texts(self, example: RecordedCall) -> Iterator[str]:
        yield example.inputs["message"]

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int) -> Rollout:
        self._call()
        if example.id in self.lost:
            fault = Fault(FaultOrigin.PROVIDER, "rate_limit", "too many requests")
            return Rollout(example.id, None, fault=fault)
        kind = example.gold["agent"]
        text = candidate["router"].text
        lucky = int(fingerprint([example.id, text, repeat], 4), 16) % 4 == 0
        right = lucky or (self.helps and example.why in text)
        lesson = Lesson(
            inputs=example.inputs["message"],
            output="some agent",
            expected="",
            rule=example.why,
            feedback="" if right else f"expected {kind} {HOSTILE}",
        )
        objectives = {"right_agent": float(right), "harmless": 1.0}
        return Rollout(example.id, float(right), objectives, lessons={"router": (lesson,)})

    def _call(self) -> None:
        usage = Usage(calls=1, attempts=1, input_tokens=100, output_tokens=5, unpriced=1)
        sent = Sent("scripted:fake", 0.0, 64, 1)
        key = current_attribution().key
        self.ledger.record(LedgerEntry(Role.TASK, self.name, key, sent, usage, 0.01))


def settings(rollouts: int = 320) -> EngineSettings:
    return EngineSettings(
        limits=Limits(rollouts=rollouts),
        search=Search(minibatch=6, patience=4),
        selection=Selection(finalists=2),
    )


def run(task: RoutingTask, folder: Path, rollouts: int = 320) -> RunResult:
    """Run the real engine on the task, with a journal in the folder."""
    with Journal(folder / "journal.sqlite") as journal:
        chosen = settings(rollouts)
        task.ledger = Ledger()
        engine = Engine(
            task, chosen, LessonsProposer(), journal, task.ledger, Budget(chosen.limits)
        )
        return asyncio.run(engine.run())


def about(**changes: Any) -> RunAbout:
    known: dict[str, Any] = {
        "name": "first-run",
        "kind": "agent",
        "config": {"seed": 0, "limits": {"rollouts": 320}, "note": HOSTILE},
        "rubric": RUBRIC,
        "simulated": False,
        "versions": VERSIONS,
        "command": "cotune optimize agent router --config run.yaml",
    }
    return RunAbout(**{**known, **changes})


@pytest.fixture(scope="session")
def improved(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    task = RoutingTask(text=f"Send the message to an agent. {HOSTILE}")
    return run(task, tmp_path_factory.mktemp("improved"))


@pytest.fixture(scope="session")
def noise(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return run(RoutingTask(helps=False), tmp_path_factory.mktemp("noise"))


@pytest.fixture
def record(improved: RunResult) -> RunRecord:
    return record_of(improved, about())
