"""The held-out test: seed and winner on examples nobody has used, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..agents.ledger import Usage
from ..agents.prompts import PromptBundle
from ..rubrics.multiplicity import holm
from ..rubrics.paired_test import paired_p_value
from ..rubrics.statistics import Conclusion, Interval, conclude, paired_difference
from .acceptance import critical_regressions
from .evaluator import Evaluator
from .example import Example
from .rollout import Rollout, scored_pairs, usage_of
from .settings import HeldOutTest

Pairs = Sequence[tuple[Rollout, Rollout]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seed against winner on one score or rate.

    Attributes:
        seed: The seed's mean, 0 to 1.
        winner: The winner's mean.
        difference: Winner minus seed, paired, with its interval, which is not corrected.
        p_value: Two-sided. Where several comparisons are made side by side it is adjusted for
            their number (Holm), so it can be above 0.05 while the interval leaves 0 out.
    """

    seed: float
    winner: float
    difference: Interval
    p_value: float

    @property
    def clear(self) -> bool:
        """Whether the difference is more than luck, at the interval's confidence."""
        return self.p_value <= 1 - self.difference.confidence


@dataclass(frozen=True, slots=True)
class Side:
    """What one side's rollouts took.

    Attributes:
        faults: Rollouts without a score because of a fault.
        usage: Calls, tokens and money, whether paid now or in an earlier run.
    """

    faults: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The result of the test.

    Attributes:
        overall: Comparison on the score.
        objectives: Comparison per domain or criterion, of those that applied.
        critical: Rate of failures of each critical criterion that failed at all; a positive
            difference means that the winner fails more often.
        conclusion: What may be said of the difference overall.
        deployable: Whether no critical criterion failed more often with the winner; it says
            nothing about the score.
        safety: Which critical criteria did, with counts, a sentence each.
        examples: Examples compared.
        lost: Examples left out on both sides because a fault hit one of them.
        seed: What the seed's rollouts took.
        winner: What the winner's took.
    """

    overall: Comparison
    objectives: Mapping[str, Comparison]
    critical: Mapping[str, Comparison]
    conclusion: Conclusion
    deployable: bool
    safety: tuple[str, ...]
    examples: int
    lost: int
    seed: Side
    winner: Side


async def compare_held_out(
    examples: Sequence[Example],
    seed: PromptBundle,
    winner: PromptBundle,
    evaluator: Evaluator,
    settings: HeldOutTest,
    random_seed: int,
) -> HeldOut | None:
    """Run both on every test example and compare them in pairs.

    Returns:
        The comparison, or None when no pair was without a fault.
    """
    before: list[Rollout] = []
    after: list[Rollout] = []
    for repeat in range(settings.repeats):
        before += await evaluator.evaluate(examples, seed, repeat)
        after += await evaluator.evaluate(examples, winner, repeat)
    families = {example.id: example.family for example in examples}
    return held_out_of(before, after, Comparer(families, settings, random_seed))


def held_out_of(
    before: Sequence[Rollout], after: Sequence[Rollout], compare: Comparer
) -> HeldOut | None:
    """Compare the seed's rollouts with the winner's; see `compare_held_out`."""
    pairs = scored_pairs(before, after)
    if not pairs:
        return None
    overall = compare(pairs, lambda rollout: rollout.score)
    objectives = {name: compare(pairs, _objective(name)) for name in _objectives(pairs)}
    critical = {name: compare(pairs, _failed(name)) for name in _failures(pairs)}
    objectives, critical = _adjusted(objectives, critical)
    safety = tuple(_safety(pairs, critical))
    tested = len({one.example for one, _ in pairs})
    return HeldOut(
        overall,
        objectives,
        critical,
        conclude(overall.difference),
        not safety,
        safety,
        tested,
        len({rollout.example for rollout in before}) - tested,
        _side(before),
        _side(after),
    )


@dataclass(frozen=True, slots=True)
class Comparer:
    """How values are compared over pairs.

    Attributes:
        families: Of each example, by its id.
        settings: Of the intervals.
        random_seed: Of their resampling.
    """

    families: Mapping[str, str]
    settings: HeldOutTest
    random_seed: int

    def __call__(self, pairs: Pairs, value: Callable[[Rollout], float | None]) -> Comparison:
        """Compare a value over the pairs in which it applied on both sides."""
        rows = [(value(one), value(other), self.families[one.example]) for one, other in pairs]
        kept = [(a, b, family) for a, b, family in rows if a is not None and b is not None]
        before, after, families = (list(column) for column in zip(*kept, strict=True))
        difference = paired_difference(
            before,
            after,
            families,
            confidence=self.settings.confidence,
            resamples=self.settings.resamples,
            seed=self.random_seed,
        ).within(-1.0, 1.0)
        p_value = paired_p_value(before, after, families, seed=self.random_seed)
        return Comparison(sum(before) / len(before), sum(after) / len(after), difference, p_value)


def _objectives(pairs: Pairs) -> list[str]:
    """Return the objectives that applied to both sides of a pair."""
    return sorted(
        {name for one, other in pairs for name in one.objectives.keys() & other.objectives.keys()}
    )


def _objective(name: str) -> Callable[[Rollout], float | None]:
    return lambda rollout: rollout.objectives.get(name)


def _failures(pairs: Pairs) -> list[str]:
    """Return the critical criteria that failed on either side."""
    return sorted({name for pair in pairs for side in pair for name in side.critical_failures})


def _failed(name: str) -> Callable[[Rollout], float | None]:
    return lambda rollout: float(name in rollout.critical_failures)


def _adjusted(*groups: Mapping[str, Comparison]) -> list[dict[str, Comparison]]:
    """Adjust the p-values of all groups together for their number."""
    adjusted = iter(holm([one.p_value for group in groups for one in group.values()]))
    return [
        {name: replace(one, p_value=next(adjusted)) for name, one in group.items()}
        for group in groups
    ]


def _safety(pairs: Pairs, critical: Mapping[str, Comparison]) -> list[str]:
    """Say which critical criteria failed more often with the winner."""
    worse = critical_regressions(*zip(*pairs, strict=True))
    return [
        f"'{name}' failed in {after} of {len(pairs)} rollouts with the winner, in {before} with "
        f"the seed ({'more than luck' if critical[name].clear else 'perhaps by chance'})"
        for name, (before, after) in worse.items()
    ]


def _side(rollouts: Sequence[Rollout]) -> Side:
    return Side(sum(rollout.score is None for rollout in rollouts), usage_of(rollouts))
