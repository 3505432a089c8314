"""Tasks, proposers and runs for tests, computed from the prompt or on the scripted model."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cotune
from cotune.agents.budget import Budget, Limits
from cotune.agents.errors import Fault, FaultOrigin
from cotune.agents.grocery.assistant import PROMPTS
from cotune.agents.grocery.signatures import AGENTS
from cotune.agents.ledger import Ledger, Role, Usage
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.agent_task import AgentTask
from cotune.optimizer.candidate import Candidate, Pool, Status
from cotune.optimizer.engine import Engine
from cotune.optimizer.evaluator import Evaluator
from cotune.optimizer.example import RecordedCall, Splits
from cotune.optimizer.observer import Silent
from cotune.optimizer.proposers.lessons import LessonsProposer
from cotune.optimizer.proposers.proposer import Assignment, Draft, Proposer
from cotune.optimizer.result import RunResult
from cotune.optimizer.rollout import Lesson, Rollout
from cotune.optimizer.settings import EngineSettings, Search, Selection
from cotune.optimizer.task import Task
from cotune.rubrics.rubric_file import load_rubric
from cotune.simulation.journal import Journal

ROUTING = Path(cotune.__file__).parent / "agents" / "grocery" / "examples" / "routing"
FAULT = Fault(FaultOrigin.PROVIDER, "rate_limit", "too many requests")

Score = Callable[[RecordedCall, str, int], float]


def examples(split: str, count: int) -> list[RecordedCall]:
    return [
        RecordedCall(
            id=f"{split}-{number}",
            family=f"{split}-family-{number}",
            inputs={"message": f"the {split} customer says number {number} aloud"},
            gold={"agent": "search"},
            why=f"Rule {number % 4} decides.",
        )
        for number in range(count)
    ]


def splits(train: int = 8, val: int = 8, test: int = 8) -> Splits:
    return Splits(examples("train", train), examples("val", val), examples("test", test))


def by_rules(example: RecordedCall, text: str, repeat: int) -> float:
    """1 where the prompt holds the example's rule."""
    return float(example.why in text)


@dataclass
class FakeTask:
    """Scores by a function of example, text and repeat; counts what it plays."""

    score: Score = by_rules
    splits: Splits = field(default_factory=splits)
    text: str = "Help."
    critical: Callable[[RecordedCall, str], tuple[str, ...]] = lambda example, text: ()
    lost: Callable[[RecordedCall, str], bool] = lambda example, text: False
    delay: Callable[[], float] = lambda: 0.0
    concurrency: int = 4
    name: str = "fake"
    played: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0

    @property
    def seed(self) -> PromptBundle:
        return PromptBundle.of(Prompt("helper", self.text))

    def identity(self) -> Mapping[str, Any]:
        return {"task": "fake"}

    def texts(self, example: RecordedCall) -> Iterator[str]:
        yield example.inputs["message"]

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int) -> Rollout:
        text = candidate["helper"].text
        self.played[example.id, text, repeat] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay())
        finally:
            self.in_flight -= 1
        if self.lost(example, text):
            return Rollout(example.id, None, fault=FAULT)
        score = self.score(example, text, repeat)
        feedback = "" if score == 1 else "not good"
        lesson = Lesson(example.inputs["message"], "out", '{"agent": "x"}', example.why, feedback)
        return Rollout(
            example.id,
            score,
            {"right": score},
            critical_failures=self.critical(example, text),
            lessons={"helper": (lesson,)},
            spending={(Role.TASK, self.name): Usage(calls=1)},
        )


@dataclass
class Hanging(FakeTask):
    """Plays so many rollouts and never ends another."""

    after: int = 0
    hangs: asyncio.Event = field(default_factory=asyncio.Event)

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int) -> Rollout:
        if self.played.total() >= self.after:
            self.hangs.set()
            await asyncio.sleep(60)
        return await FakeTask.rollout(self, example, candidate, repeat)


@dataclass
class Proposing:
    """Proposes what a function says; counts how often it is asked."""

    say: Callable[[Assignment], Mapping[str, str]]
    asked: int = 0
    name: str = "proposing"
    quotes_train: bool = True

    async def propose(self, assignment: Assignment) -> Draft:
        self.asked += 1
        return Draft(self.say(assignment))


def numbered(prefix: str = "Variant") -> Proposing:
    """Propose a text that was not there before, again and again."""
    numbers: Iterator[int] = iter(range(10_000))
    return Proposing(lambda assignment: {"helper": f"{prefix} {next(numbers)}."})


def settings(rollouts: int = 200, seed: int = 0, **search: Any) -> EngineSettings:
    search = {"minibatch": 4, "patience": 4, **search}
    return EngineSettings(
        limits=Limits(rollouts=rollouts),
        seed=seed,
        search=Search(**search),
        selection=Selection(finalists=2),
    )


async def run(
    task: Task,
    journal: Path,
    proposer: Proposer | None = None,
    chosen: EngineSettings | None = None,
) -> RunResult:
    """Run the real engine with a journal, a ledger and a budget of its own."""
    with Journal(journal) as opened:
        return await engine(task, opened, proposer, chosen).run()


def engine(
    task: Task,
    journal: Journal,
    proposer: Proposer | None = None,
    chosen: EngineSettings | None = None,
) -> Engine:
    chosen = chosen or settings()
    parts = (proposer or LessonsProposer(), journal, Ledger(), Budget(chosen.limits))
    return Engine(task, chosen, *parts)


@dataclass
class Model:
    """A scripted model with what counts and limits its calls."""

    name: str = "scripted:grocery"
    limits: Limits = field(default_factory=lambda: Limits(rollouts=200))
    kind: type[LanguageModel] = LanguageModel
    concurrency: int = 8

    def __post_init__(self) -> None:
        self.ledger = Ledger()
        self.budget = Budget(self.limits)

    def lm(self, role: Role) -> LanguageModel:
        chosen = ModelSettings(model=self.name, concurrency=self.concurrency, max_tokens=4000)
        return self.kind(chosen, role, self.ledger, self.budget)

    def routing(self, train: int = 20, val: int = 8, test: int = 12) -> AgentTask:
        """Build the real agent task on some of the real examples."""
        every = Splits.load(ROUTING)
        some = Splits(every.train[:train], every.val[:val], every.test[:test])
        seed = PromptBundle.load(PROMPTS).only("router")
        rubric = load_rubric("grocery_routing")
        return AgentTask(AGENTS["router"], seed, some, rubric, self.lm(Role.TASK))

    async def run(
        self,
        journal: Path,
        proposer: Callable[[Model, Journal], Proposer] = lambda model, journal: LessonsProposer(),
        task: AgentTask | None = None,
        seed: int = 0,
    ) -> RunResult:
        """Optimize the router."""
        chosen = settings(seed=seed).model_copy(update={"limits": self.limits})
        with Journal(journal) as opened:
            parts = (proposer(self, opened), opened, self.ledger, self.budget)
            return await Engine(task or self.routing(), chosen, *parts).run()


def evaluator(task: Task, journal: Journal, rollouts: int = 1000, threshold: float = 0.05) -> Any:
    budget = Budget(Limits(rollouts=rollouts))
    return Evaluator(task, journal, Ledger(), budget, Silent(), threshold)


def rollouts(*scores: float | None, critical: Mapping[int, str] | None = None) -> list[Rollout]:
    """Build rollouts of examples 0, 1, …; None is one that a fault hit."""
    critical = critical or {}
    return [
        Rollout(
            f"{number}",
            score,
            critical_failures=(critical[number],) if number in critical else (),
            fault=FAULT if score is None else None,
        )
        for number, score in enumerate(scores)
    ]


def candidate(number: int, text: str, val: list[Rollout], status: Status) -> Candidate:
    bundle = PromptBundle.of(Prompt("helper", text))
    return Candidate(number, bundle, None if number == 0 else 0, status, "", 0, val=val)


def outcome(result: RunResult) -> dict[str, Any]:
    """Return everything a run found, in a form that can be compared and written down."""
    return {
        "winner": result.winner.bundle.fingerprint,
        "choice": result.choice.reason,
        "candidates": [
            [one.number, one.bundle.fingerprint, one.parent, str(one.status), one.reason]
            for one in result.pool.candidates
        ],
        "val": [[rollout.score for rollout in one.val] for one in result.pool.candidates],
        "held_out": None
        if result.held_out is None
        else [
            result.held_out.overall.seed,
            result.held_out.overall.winner,
            result.held_out.overall.difference.low,
            result.held_out.overall.difference.high,
        ],
        "stopped": result.stopped,
        "rollouts": result.rollouts,
    }


def pool(*candidates: Candidate) -> Pool:
    return Pool(list(candidates))
