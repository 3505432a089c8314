"""Noise: how much scores vary of themselves, and what difference a test could see through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Any

from scipy import stats

from .evaluator import Evaluator
from .example import Example
from .settings import NoiseSettings
from .task import Task


@dataclass(frozen=True, slots=True)
class Noise:
    """Variance of the seed's scores, split by where it comes from.

    Attributes:
        mean: Mean score, 0 to 1.
        between_scenarios: Variance of the examples' true means: some are harder.
        between_repeats: Variance of one example's score from repeat to repeat.
        scenarios: Examples it was measured on, of those with two scores or more.
        repeats: Rollouts asked for of each.
    """

    mean: float
    between_scenarios: float
    between_repeats: float
    scenarios: int
    repeats: int

    def detectable(
        self,
        examples: int,
        repeats: int,
        power: float = 0.8,
        confidence: float = 0.95,
        families: int | None = None,
    ) -> float:
        """Return the smallest true difference that a paired test would probably see.

        The minimum detectable effect (Bloom 1995): the standard error of the mean difference
        times the t quantiles of the two-sided level and of the power. What is hard for both sides
        cancels in a pair, but a change helps some scenarios more than others, and how unequally
        is not known before there is a change. It is assumed that true scenario means with the two
        prompts correlate by one half only, so that their difference varies as much as they do
        themselves; that families are all alike inside; and that the winner is as noisy as the
        seed. A change that moves all scenarios alike is seen earlier.

        Args:
            examples: In the test, two or more.
            repeats: Rollouts of each on each side.
            power: Chance with which it is to be seen.
            confidence: Two-sided level of the test.
            families: Families the examples belong to; None when each stands alone.

        Returns:
            A difference on the 0 to 1 scale; 1 when even the largest would not be seen.
        """
        groups = examples if families is None else families
        if groups < 2:
            return 1.0
        variance = self.between_scenarios / groups + 2 * self.between_repeats / (examples * repeats)
        quantiles = float(stats.t.ppf([(1 + confidence) / 2, power], groups - 1).sum())
        return min(1.0, quantiles * sqrt(variance))


async def measure_noise(
    task: Task[Any], evaluator: Evaluator, settings: NoiseSettings
) -> Noise | None:
    """Run the seed on some val examples again and again.

    Repeat 0 is what the search scores the seed by, and the next ones are those the selection runs,
    so most of it is not paid for twice.

    Returns:
        The noise, or None when it is not to be measured or faults left too little.

    Raises:
        BudgetExhaustedError: The budget does not buy it.
        PausedError: Too many faults.
        ModelUnusableError: No model call can succeed.
    """
    examples = spread(task.splits.val, settings.examples)
    if not examples:
        return None
    repeats = [
        await evaluator.evaluate(examples, task.seed, repeat) for repeat in range(settings.repeats)
    ]
    scores = [
        [rollout.score for rollout in one if rollout.score is not None]
        for one in zip(*repeats, strict=True)
    ]
    return noise_of(scores, settings.repeats)


def spread(examples: Sequence[Example], count: int) -> list[Example]:
    """Return so many examples from all over a split, for neighbours are often alike."""
    count = min(count, len(examples))
    return [examples[place * len(examples) // count] for place in range(count)]


def noise_of(scores: Sequence[Sequence[float]], repeats: int) -> Noise | None:
    """Estimate the variance components from the repeated scores of each example.

    The analysis-of-variance estimator of the one-way random-effects model (Searle, Casella and
    McCulloch 1992, "Variance Components", section 3.6): the mean square within examples, and the
    mean square between them less that within, over the mean number of repeats (corrected where
    faults made it unequal), 0 where that is negative.

    Args:
        scores: The scores of each example; those with fewer than two are left out.
        repeats: How many were asked for.

    Returns:
        The noise, or None with fewer than two examples.
    """
    kept = [one for one in scores if len(one) >= 2]
    if len(kept) < 2:
        return None
    sizes = [len(one) for one in kept]
    total, groups = sum(sizes), len(kept)
    mean = fmean(score for one in kept for score in one)
    means = [fmean(one) for one in kept]
    within = sum((score - centre) ** 2 for one, centre in zip(kept, means, strict=True)
                 for score in one) / (total - groups)  # fmt: skip
    between = sum(
        size * (centre - mean) ** 2 for size, centre in zip(sizes, means, strict=True)
    ) / (groups - 1)
    typical = (total - sum(size**2 for size in sizes) / total) / (groups - 1)
    return Noise(mean, max(0.0, (between - within) / typical), within, groups, repeats)
