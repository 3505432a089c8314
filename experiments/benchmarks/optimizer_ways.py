"""The ways to optimize a planted world that are compared, and what each delivers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...agents.budget import Budget, Limits
from ...agents.ledger import Ledger
from ...agents.prompts import PromptBundle
from ...optimizer.candidate import Status
from ...optimizer.engine import Engine
from ...optimizer.result import RunResult
from ...optimizer.settings import EngineSettings, HeldOutTest, Search, Selection
from ...simulation.journal import Journal
from .plain_gepa import PlainAdapter, PlainCandidate, delivered, run_plain
from .planted_task import PlantedTask
from .planted_world import AGENTS, PlantedScenario
from .simulated_writer import SimulatedWriter

COTUNE, APART = "cotune", "agents apart"
PLAIN: Mapping[str, Literal["round_robin", "all"]] = {
    "gepa, round robin": "round_robin",
    "gepa, all": "all",
}
PLAIN_MINIBATCH = 3  # gepa's default; 6 and 12 do no better here
_IN_MEMORY = Path(":memory:")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run delivered.

    Attributes:
        way: How.
        noise: Its level.
        seed: Of world and run.
        budget: Rollouts it might use.
        rollouts: Rollouts it used, all of them.
        start: The seed prompts' true score.
        true: The delivered prompts' true score.
        optimum: The best true score that safe prompts have.
        unsafe: Whether the delivered prompts break safety.
        val_gain: What the scores on val say that was gained.
        claimed: What it reports as gained: on the held-out test, or on val where there is none.
        accepted: Candidates accepted after the seed; not counted for agents apart.
        false: How many of them are truly no better than their parent.
        tested: How many of the rollouts were the held-out test.
        conclusion: What it concludes; empty of a way that concludes nothing.
    """

    way: str
    noise: str
    seed: int
    budget: int
    rollouts: int
    start: float
    true: float
    optimum: float
    unsafe: bool
    val_gain: float
    claimed: float
    accepted: int = 0
    false: int = 0
    tested: int = 0
    conclusion: str = ""

    @property
    def gain(self) -> float:
        """The true gain."""
        return self.true - self.start

    @property
    def reached(self) -> float:
        """The share of the possible gain; above 1 only where safety was sold."""
        return self.gain / (self.optimum - self.start) if self.optimum > self.start else 0.0


@dataclass(frozen=True, slots=True)
class Variant:
    """cotune with some of its parts.

    Attributes:
        changes: Settings of the search that differ from `SEARCH`.
        joint: Whether proposals are joint.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    joint: bool = True


SEARCH: Mapping[str, Any] = {"parents": "newest", "minibatch": 16, "agents": "all", "val": "part"}
SELECTION = Selection(finalists=2, repeats=1, order="newest")
WHOLE = Variant()
ABLATIONS: Mapping[str, Variant] = {
    "evidence of the minibatch only": Variant({"evidence": "minibatch"}),
    "minibatches shuffled": Variant({"minibatches": "shuffled"}),
    "all or nothing, by the minibatch": Variant({"acceptance": "minibatch"}),
    "all or nothing, by a race": Variant(
        {"acceptance": "race", "race": {"step": 8, "most": 40, "confidence": 0.8}}
    ),
    "all of val for each child": Variant({"val": "full"}),
    "without joint proposals": Variant(joint=False),
    "agents in turn": Variant({"agents": "round_robin"}),
    "two agents at once, by blame": Variant({"agents": "blame", "agents_at_once": 2}),
    "any on the front as parent": Variant({"parents": "pareto"}),
    "the best on val as parent": Variant({"parents": "current_best"}),
}


def run_cotune(task: PlantedTask, seed: int, rollouts: int, variant: Variant = WHOLE) -> RunResult:
    """Run the engine on a planted world, with a journal in memory."""
    settings = EngineSettings(
        limits=Limits(rollouts=rollouts),
        seed=seed,
        search=Search.model_validate({**SEARCH, **variant.changes}),
        selection=SELECTION,
        test=HeldOutTest(resamples=1000),
    )
    writer = SimulatedWriter(task.world, variant.joint)
    journal = Journal(_IN_MEMORY)
    try:
        engine = Engine(task, settings, writer, journal, Ledger(), Budget(settings.limits))
        return asyncio.run(engine.run())
    finally:
        journal.close()


def cotune(
    task: PlantedTask, seed: int, budget: int, variant: Variant = WHOLE, way: str = COTUNE
) -> Outcome:
    """Return what cotune delivers; its budget covers selection and test."""
    result = run_cotune(task, seed, budget, variant)
    candidates = result.pool.candidates
    true = [task.true_score(each.bundle) for each in candidates]
    accepted = [each for each in candidates if each.status is Status.ACCEPTED]
    false = [each for each in accepted if true[each.number] <= true[each.parent or 0]]
    held_out = result.held_out
    return _outcome(
        task, way, seed, budget, result.winner.bundle,
        rollouts=result.rollouts,
        tested=0 if held_out is None else result.plan.test,
        accepted=len(accepted),
        false=len(false),
        val_gain=result.val_gain or 0.0,
        claimed=0.0 if held_out is None else held_out.overall.difference.mean,
        conclusion=str(result.conclusion),
    )  # fmt: skip


def plain(task: PlantedTask, seed: int, budgets: Sequence[int], way: str) -> list[Outcome]:
    """Return what plain gepa delivers after each budget, in one run over the largest."""
    adapter = PlainAdapter(task.seed, task.play, SimulatedWriter(task.world, joint=False))
    splits = task.splits.train, task.splits.val
    candidates = run_plain(adapter, AGENTS, splits, PLAIN[way], PLAIN_MINIBATCH, max(budgets), seed)
    true = [task.true_score(each.bundle) for each in candidates]
    return [_plain_outcome(task, way, seed, budget, candidates, true) for budget in budgets]


def _plain_outcome(
    task: PlantedTask,
    way: str,
    seed: int,
    budget: int,
    candidates: Sequence[PlainCandidate],
    true: Sequence[float],
) -> Outcome:
    there = [each for each in candidates[1:] if each.rollouts <= budget]
    best = delivered(candidates, budget)
    gain = best.val - candidates[0].val
    return _outcome(
        task, way, seed, budget, best.bundle,
        rollouts=budget,
        accepted=len(there),
        false=sum(
            true[number] <= true[each.parent or 0] for number, each in enumerate(there, start=1)
        ),
        val_gain=gain,
        claimed=gain,
    )  # fmt: skip


def apart(task: PlantedTask, seed: int, budgets: Sequence[int]) -> list[Outcome]:
    """Return what agents optimized one by one, each on a fifth of the budget, come to together."""
    runs = {agent: _alone(task, agent, seed, max(budgets) // len(AGENTS)) for agent in AGENTS}
    outcomes = []
    for budget in budgets:
        best = {agent: delivered(run, budget // len(AGENTS)) for agent, run in runs.items()}
        texts = {agent: one.bundle[agent].text for agent, one in best.items()}
        gain = sum(one.val - runs[agent][0].val for agent, one in best.items()) / len(AGENTS)
        bundle = task.seed.with_texts(texts)
        outcomes.append(
            _outcome(
                task, APART, seed, budget, bundle, rollouts=budget, val_gain=gain, claimed=gain
            )
        )
    return outcomes


def _alone(task: PlantedTask, agent: str, seed: int, rollouts: int) -> list[PlainCandidate]:
    """Optimize one agent on the scenarios in which it has something to do."""
    writer = SimulatedWriter(task.world, joint=False)
    adapter = PlainAdapter(task.seed, task.play_alone(agent), writer)
    train, val = (_of_agent(task, agent, split) for split in (task.splits.train, task.splits.val))
    return run_plain(adapter, [agent], (train, val), "round_robin", PLAIN_MINIBATCH, rollouts, seed)


def _of_agent(
    task: PlantedTask, agent: str, scenarios: Sequence[PlantedScenario]
) -> list[PlantedScenario]:
    own = {name for name, skill in task.world.skills.items() if skill.agents[0] == agent}
    return [scenario for scenario in scenarios if own & set(scenario.needs)]


def _outcome(
    task: PlantedTask, way: str, seed: int, budget: int, bundle: PromptBundle, **found: Any
) -> Outcome:
    """Return an outcome with what is truly so of the delivered prompts."""
    return Outcome(
        way=way,
        noise=task.noise.name,
        seed=seed,
        budget=budget,
        start=task.true_score(task.seed),
        true=task.true_score(bundle),
        optimum=task.optimum,
        unsafe=task.world.behaviour(bundle).unsafe,
        **found,
    )
