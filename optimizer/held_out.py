"""The held-out test: seed and winner on examples nobody has used, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..agents.prompts import PromptBundle
from ..rubrics.statistics import Conclusion, Interval, conclude, paired_difference
from .evaluator import Evaluator
from .example import Example
from .rollout import Rollout, scored_pairs
from .settings import HeldOutTest


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seed against winner on one score.

    Attributes:
        seed: The seed's mean, 0 to 1.
        winner: The winner's mean.
        difference: Winner minus seed, paired, with its interval.
    """

    seed: float
    winner: float
    difference: Interval


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The result of the test.

    Attributes:
        overall: Comparison on the score.
        objectives: Comparison per criterion, of those that applied.
        conclusion: What may be said of the difference.
        examples: Examples compared.
        lost: Examples left out on both sides because a fault hit one of them.
    """

    overall: Comparison
    objectives: Mapping[str, Comparison]
    conclusion: Conclusion
    examples: int
    lost: int


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
    pairs: list[tuple[Rollout, Rollout]] = []
    for repeat in range(settings.repeats):
        before = await evaluator.evaluate(examples, seed, repeat)
        after = await evaluator.evaluate(examples, winner, repeat)
        pairs += scored_pairs(before, after)
    if not pairs:
        return None
    families = {example.id: example.family for example in examples}
    compare = _Comparer(families, settings, random_seed)
    scores = [(one.score, other.score, one.example) for one, other in pairs]
    overall = compare([(a, b, id_) for a, b, id_ in scores if a is not None and b is not None])
    tested = len({one.example for one, _ in pairs})
    return HeldOut(
        overall,
        {name: compare(_values(pairs, name)) for name in _names(pairs)},
        conclude(overall.difference),
        tested,
        len(examples) - tested,
    )


@dataclass(frozen=True, slots=True)
class _Comparer:
    families: Mapping[str, str]
    settings: HeldOutTest
    random_seed: int

    def __call__(self, values: Sequence[tuple[float, float, str]]) -> Comparison:
        before = [value[0] for value in values]
        after = [value[1] for value in values]
        difference = paired_difference(
            before,
            after,
            [self.families[value[2]] for value in values],
            confidence=self.settings.confidence,
            resamples=self.settings.resamples,
            seed=self.random_seed,
        )
        return Comparison(sum(before) / len(before), sum(after) / len(after), difference)


def _names(pairs: Sequence[tuple[Rollout, Rollout]]) -> list[str]:
    return sorted(
        {name for one, other in pairs for name in one.objectives.keys() & other.objectives.keys()}
    )


def _values(pairs: Sequence[tuple[Rollout, Rollout]], name: str) -> list[tuple[float, float, str]]:
    return [
        (one.objectives[name], other.objectives[name], one.example)
        for one, other in pairs
        if name in one.objectives and name in other.objectives
    ]
