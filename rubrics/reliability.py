"""Reliability: whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .clustered_estimate import Estimate, Resampling, estimate
from .comparison import Pair
from .statistics import Floats

_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Items whose probability of a pass is in one tenth of [0, 1].

    Attributes:
        low: Where it begins.
        n: How many items, by weight.
        said: The mean probability.
        passed: The share that passes in the gold.
    """

    low: float
    n: float
    said: float
    passed: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """Probabilities of a pass held against passes.

    Attributes:
        brier: Mean squared difference (Brier 1950): 0 is best.
        constant: The same for somebody who always says the share of passes and knows nothing
            else: a judge above that would do better to say nothing.
        bins: The reliability curve; tenths without items are left out.
    """

    brier: Estimate
    constant: float
    bins: tuple[Bin, ...]


def reliability(pairs: Sequence[Pair], resampling: Resampling) -> Reliability | None:
    """Return how reliable probabilities are; None when there are none.

    Args:
        pairs: Of pass (1) and fail (0); those without a probability are left out.
        resampling: How the interval is found.
    """
    given = [
        (pair.conversation, pair.gold, pair.probability, pair.weight)
        for pair in pairs
        if pair.probability is not None
    ]
    if not given:
        return None
    names, *columns = zip(*given, strict=True)
    passes, said, weights = (np.array(column, dtype=np.float64) for column in columns)
    share = float(np.average(passes, weights=weights))
    return Reliability(
        brier=_brier(names, weights * (passes - said) ** 2, weights, resampling),
        constant=share * (1.0 - share),
        bins=_bins(passes, said, weights),
    )


def _brier(names: Sequence[str], lost: Floats, weights: Floats, resampling: Resampling) -> Estimate:
    _, row = np.unique(np.array(names), return_inverse=True)
    sums = np.stack([np.bincount(row, lost), np.bincount(row, weights)], axis=1).astype(np.float64)
    n = round(float(weights.sum()))
    return estimate(lambda total: total[..., 0] / total[..., 1], sums, n, 0.0, resampling)


def _bins(passes: Floats, said: Floats, weights: Floats) -> tuple[Bin, ...]:
    place = np.minimum((said * _BINS).astype(int), _BINS - 1)
    bins: list[Bin] = []
    for index in range(_BINS):
        inside = place == index
        if inside.any():
            n = float(weights[inside].sum())
            mean, passed = (
                float(np.average(values[inside], weights=weights[inside]))
                for values in (said, passes)
            )
            bins.append(Bin(index / _BINS, n, mean, passed))
    return tuple(bins)
