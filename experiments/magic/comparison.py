"""The comparison: all arms on the same held-out scenarios, each pair of them in pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ...agents.prompts import PromptBundle
from ...optimizer.evaluator import Evaluator
from ...optimizer.held_out import HeldOut, compare_held_out
from ...optimizer.rollout import Rollout
from ...rubrics.multiplicity import holm
from ...rubrics.statistics import Interval, mean_interval
from ...simulation.scenario import Scenario
from ..config import RunConfig
from .arms import Arm


@dataclass(frozen=True, slots=True)
class ArmScores:
    """One arm on the held-out scenarios.

    Attributes:
        overall: Mean score, 0 to 1, with its interval; None when faults left nothing.
        domains: The same by domain, of those that applied.
        critical: Rate of rollouts in which each critical criterion failed, of those that did.
        faults: Rollouts without a score.
    """

    overall: Interval | None
    domains: Mapping[str, Interval]
    critical: Mapping[str, float]
    faults: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms in pairs.

    Attributes:
        before: The one that is compared with.
        after: The other.
        held_out: Differences, after minus before.
        p_value: Of the difference overall, adjusted for the number of pairs of arms (Holm).
    """

    before: Arm
    after: Arm
    held_out: HeldOut
    p_value: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All arms and all pairs of them."""

    arms: Mapping[Arm, ArmScores]
    pairs: tuple[Pair, ...]


async def compare(
    arms: Mapping[Arm, PromptBundle],
    scenarios: Sequence[Scenario],
    evaluator: Evaluator,
    config: RunConfig,
) -> Comparison:
    """Score every arm on every scenario, and compare each two.

    Raises:
        BudgetExhaustedError: The limits on tokens or money do not allow it.
        PausedError: Too many faults.
    """
    rollouts: dict[Arm, list[Rollout]] = {arm: [] for arm in arms}
    for repeat in range(config.test.repeats):
        work = [(scenarios, bundle) for bundle in arms.values()]
        for arm, played in zip(arms, await evaluator.evaluate_all(work, repeat), strict=True):
            rollouts[arm] += played
    measure = _Measure({one.id: one.family for one in scenarios}, config)
    pairs: list[Pair] = []
    for before, after in combinations(arms, 2):
        held_out = await compare_held_out(
            scenarios, arms[before], arms[after], evaluator, config.test, config.seed
        )
        if held_out is not None:
            pairs.append(Pair(before, after, held_out, held_out.overall.p_value))
    adjusted = holm([pair.p_value for pair in pairs])
    return Comparison(
        {arm: measure.arm(played) for arm, played in rollouts.items()},
        tuple(replace(pair, p_value=p) for pair, p in zip(pairs, adjusted, strict=True)),
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    families: Mapping[str, str]
    config: RunConfig

    def arm(self, rollouts: Sequence[Rollout]) -> ArmScores:
        scored = [one for one in rollouts if one.score is not None]
        domains = sorted({name for one in scored for name in one.objectives})
        critical = sorted({name for one in scored for name in one.critical_failures})
        found = {name: self._mean(scored, _domain(name)) for name in domains}
        return ArmScores(
            self._mean(scored, lambda rollout: rollout.score),
            {name: interval for name, interval in found.items() if interval is not None},
            {
                name: sum(name in one.critical_failures for one in scored) / len(scored)
                for name in critical
            },
            len(rollouts) - len(scored),
        )

    def _mean(
        self, rollouts: Sequence[Rollout], value: Callable[[Rollout], float | None]
    ) -> Interval | None:
        rows = [(value(one), self.families[one.example]) for one in rollouts]
        kept = [(found, family) for found, family in rows if found is not None]
        if not kept:
            return None
        values, families = (list(column) for column in zip(*kept, strict=True))
        test = self.config.test
        limits = {"resamples": test.resamples, "seed": self.config.seed}
        return mean_interval(values, families, confidence=test.confidence, **limits)


def _domain(name: str) -> Callable[[Rollout], float | None]:
    return lambda rollout: rollout.objectives.get(name)
