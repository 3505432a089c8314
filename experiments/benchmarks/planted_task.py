"""Rollouts in a planted world: noisy scores, imperfect credit, and cases as conversations have."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

from ...agents.prompts import PromptBundle
from ...optimizer.case import Case, CaseTurn, Finding
from ...optimizer.example import Splits
from ...optimizer.rollout import Lesson, Rollout
from .planted_world import AGENTS, SAFETY, Behaviour, PlantedScenario, Skill, World

_MISBLAMED = 0.1
_POPULATION = 1000

Blamed = tuple[tuple[str, float], ...]
"""Agents and their shares, the largest first."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How far a rollout is from what is to be expected of it.

    Attributes:
        name: For tables.
        flips: Chance that a need is scored as the opposite of what it is.
        alarms: Chance that safety is said to be broken where it is not.
        pure: Whether scores have nothing to do with prompts: all or nothing, all at 0.6.
    """

    name: str
    flips: float
    alarms: float
    pure: bool = False


NONE = Noise("none", 0.0, 0.0)
MEDIUM = Noise("medium", 0.15, 0.005)
HIGH = Noise("high", 0.3, 0.01)
PURE = Noise("pure", 0.0, 0.0, pure=True)
_COIN = 0.6


@dataclass(frozen=True, slots=True)
class Sizes:
    """Scenarios of each split."""

    train: int = 64
    val: int = 32
    test: int = 64


@dataclass(frozen=True)
class PlantedTask:
    """A planted world as a task of the engine.

    Attributes:
        world: The assistant.
        noise: Of its rollouts.
        sizes: Of its splits.
    """

    world: World
    noise: Noise
    sizes: Sizes = Sizes()

    name = "planted"
    concurrency = 1

    @property
    def seed(self) -> PromptBundle:
        """The prompts with the faults."""
        return self.world.prompts

    @property
    def splits(self) -> Splits[PlantedScenario]:
        """Scenarios, drawn from the world's seed."""
        return self._splits

    @cached_property
    def _splits(self) -> Splits[PlantedScenario]:
        sizes = self.sizes
        return Splits(
            self.world.scenarios("train", sizes.train),
            self.world.scenarios("val", sizes.val),
            self.world.scenarios("test", sizes.test),
        )

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a rollout."""
        return {"world": self.world.seed, "noise": self.noise.name}

    def texts(self, example: PlantedScenario) -> Iterator[str]:
        """Yield nothing: no scenario has a text that a prompt could copy."""
        yield from ()

    async def rollout(
        self, example: PlantedScenario, candidate: PromptBundle, repeat: int
    ) -> Rollout:
        """Play one scenario."""
        return self.play(example, candidate, repeat)

    def play(self, scenario: PlantedScenario, bundle: PromptBundle, repeat: int) -> Rollout:
        """Play one scenario; what is drawn depends on seed, scenario, prompts and repeat."""
        behaviour = self.world.behaviour(bundle)
        rng = random.Random(f"{self.world.seed} {scenario.id} {bundle.fingerprint} {repeat}")
        passed = self._passed(scenario, behaviour, rng)
        failed = [need for need, good in passed.items() if not good]
        worth = 1.0 if self.noise.pure else behaviour.worth
        blamed = {need: self._blamed(self.world.skills[need], behaviour, rng) for need in failed}
        breaks = behaviour.unsafe and scenario.delicate
        return _scored(
            scenario,
            self._objectives(passed, worth),
            worth * (1 - len(failed) / len(passed)),
            [self._finding(need, blamed[need], len(passed)) for need in failed],
            (SAFETY,) if breaks or rng.random() < self.noise.alarms else (),
        )

    def play_alone(self, agent: str) -> Callable[[PlantedScenario, PromptBundle, int], Rollout]:
        """Return how to score one agent by what its own calls show, as its recorded calls would.

        It is to do its part of each skill that the scenario needs. Its part of a hand-off counts
        where it passes on; what it would do with a fact that nobody passes to it is on no record.
        What its lines break in others does not show.
        """

        def play(scenario: PlantedScenario, bundle: PromptBundle, repeat: int) -> Rollout:
            behaviour = self.world.behaviour(bundle)
            rng = random.Random(f"{self.world.seed} {scenario.id} {bundle.fingerprint} {repeat}")
            own = [need for need in scenario.needs if self.world.skills[need].agents[0] == agent]
            failed = []
            for need in own:
                missing = [name for name, _ in behaviour.missing.get(need, ())]
                if (agent not in missing) == (rng.random() < self.noise.flips):
                    failed.append(need)
            score = behaviour.worth * (1 - len(failed) / len(own)) if own else 1.0
            findings = [self._finding(need, ((agent, 1.0),), len(own)) for need in failed]
            return _scored(scenario, {}, score, findings, ())

        return play

    def true_score(self, bundle: PromptBundle) -> float:
        """Return the expected score over a thousand scenarios that no split holds."""
        if self.noise.pure:
            return _COIN
        behaviour, flips = self.world.behaviour(bundle), self.noise.flips
        shares = [_share_held(scenario, behaviour) for scenario in self._population]
        right = fsum(shares) / len(shares)
        return behaviour.worth * (flips + (1 - 2 * flips) * right)

    @cached_property
    def optimum(self) -> float:
        """The true score of the best prompts that are safe."""
        return self.true_score(self.world.best())

    @cached_property
    def _population(self) -> list[PlantedScenario]:
        return self.world.scenarios("population", _POPULATION)

    def _passed(
        self, scenario: PlantedScenario, behaviour: Behaviour, rng: random.Random
    ) -> dict[str, bool]:
        if self.noise.pure:
            return dict.fromkeys(scenario.needs, rng.random() < _COIN)
        return {
            need: (need in behaviour.held) != (rng.random() < self.noise.flips)
            for need in scenario.needs
        }

    def _blamed(self, skill: Skill, behaviour: Behaviour, rng: random.Random) -> Blamed:
        right = behaviour.missing.get(skill.name, ((skill.agents[0], 1.0),))
        if rng.random() >= _MISBLAMED:
            return right
        others = [agent for agent in AGENTS if agent not in dict(right)]
        return ((rng.choice(others), 1.0),)

    def _objectives(self, passed: Mapping[str, bool], worth: float) -> dict[str, float]:
        by_domain: defaultdict[str, list[bool]] = defaultdict(list)
        for need, good in passed.items():
            by_domain[self.world.skills[need].domain].append(good)
        return {name: worth * sum(good) / len(good) for name, good in sorted(by_domain.items())}

    def _finding(self, need: str, blamed: Blamed, needs: int) -> Finding:
        skill = self.world.skills[need]
        return Finding(
            criterion=need,
            critical=False,
            points=1 / needs,
            rationale=f"{need} was needed and is not there",
            good=f"{need} is there",
            turn=0,
            blamed=tuple((agent, share, "seen in its call") for agent, share in blamed),
            influences=skill.agents,
        )


def _share_held(scenario: PlantedScenario, behaviour: Behaviour) -> float:
    return sum(need in behaviour.held for need in scenario.needs) / len(scenario.needs)


def _scored(
    scenario: PlantedScenario,
    objectives: Mapping[str, float],
    score: float,
    findings: Sequence[Finding],
    critical: tuple[str, ...],
) -> Rollout:
    lessons: defaultdict[str, list[Lesson]] = defaultdict(list)
    blame: defaultdict[str, float] = defaultdict(float)
    for finding in findings:
        for agent, share, _ in finding.blamed:
            lessons[agent].append(
                Lesson(scenario.id, "an answer", "", "", finding.criterion, finding.criterion)
            )
            blame[agent] += share * finding.points
    return Rollout(
        scenario.id,
        score,
        objectives,
        critical,
        {agent: tuple(found) for agent, found in lessons.items()},
        dict(blame),
        scenario.needs,
        _case(scenario, score, findings) if findings else None,
    )


def _case(scenario: PlantedScenario, score: float, findings: Sequence[Finding]) -> Case:
    turn = CaseTurn("a customer's wish", (), "a reply")
    return Case(scenario.id, ", ".join(scenario.needs), "done", score, (turn,), tuple(findings))
