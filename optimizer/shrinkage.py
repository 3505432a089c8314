"""Shrinkage: what the gain of the best of several is probably worth (the winner's curse)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

from .rollout import Rollout, scored_pairs


@dataclass(frozen=True, slots=True)
class Gain:
    """A candidate's gain on the seed.

    Attributes:
        mean: Candidate minus seed, over the pairs that no fault hit; 0 without any.
        error: Squared standard error of the mean.
    """

    mean: float
    error: float


def gain_of(before: Sequence[Rollout], after: Sequence[Rollout]) -> Gain:
    """Return the gain of `after` over `before`; repeats of an example are no new examples.

    Raises:
        ValueError: The two are not of the same examples in the same order.
    """
    differences: dict[str, list[float]] = {}
    for one, other in scored_pairs(before, after):
        if one.score is not None and other.score is not None:
            differences.setdefault(one.example, []).append(other.score - one.score)
    count = sum(map(len, differences.values()))
    if not count:
        return Gain(0.0, 0.0)
    mean = fsum(each for found in differences.values() for each in found) / count
    examples = len(differences)
    if examples < 2:
        return Gain(mean, mean**2)
    residuals = [fsum(found) - mean * len(found) for found in differences.values()]
    squares = fsum(residual**2 for residual in residuals)
    return Gain(mean, examples / (examples - 1) * squares / count**2)


def shrunk(gains: Sequence[Gain]) -> list[float]:
    """Shrink each gain towards 0 by the share of its spread that is probably luck.

    Empirical Bayes in the manner of Efron and Morris (1973), with unequal errors: true gains are
    taken to be normal around 0, which is the seed, and their variance is estimated by moments,
    the mean of gain² - error, 0 where that is negative. Each gain is then worth
    variance / (variance + error) of itself. That the candidates share one seed, whose luck is in
    all gains, is left out of account; it does not touch their order.
    """
    if not gains:
        return []
    variance = max(0.0, fmean(gain.mean**2 - gain.error for gain in gains))
    if not variance:
        return [0.0] * len(gains)
    return [gain.mean * (variance / (variance + gain.error)) for gain in gains]
