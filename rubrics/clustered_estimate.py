"""Estimates: any statistic of counts, with an interval over clusters of items.

Items of one conversation resemble each other, so the conversation (cluster) is resampled and not
the item. A statistic is a function of sums over clusters, so a resample is a weighted sum.

* 10 clusters or more: bias-corrected and accelerated bootstrap (Efron 1987) at a level expanded
  for the number of clusters, as in `statistics.py`.
* 2 to 9: Student's t with the jackknife's standard error (Tukey 1958).
* Differences of two sides: Student's t, however many clusters there are. The sides agree on most
  items, so a difference rests on few, and of few items the corrected bootstrap is too sure: of
  judges that differ in 10 % of 40 items by nothing but noise it says so in 11 % of the cases.
* Clusters that are all alike, so that their spread says nothing: of a share of 0 or 1 the exact
  bound (Clopper and Pearson 1934) with the clusters as trials, of anything else no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from .statistics import MIN_CLUSTERS_TO_RESAMPLE, Floats, expanded

Statistic = Callable[[Floats], Floats]
"""From sums over clusters, `(..., F)`, to values, `(...)`; NaN where it is not defined."""

UNDEFINED = "undefined"
_Bounds = tuple[float | None, float | None, str]
_MOST_UNDEFINED = 0.1
_ALL_ALIKE = "none: all conversations are alike"
_ALIKE = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its confidence interval.

    Attributes:
        value: None when it is not defined.
        low: Lower bound; None when no interval can be given.
        high: Upper bound; None when no interval can be given.
        n: Number of items.
        clusters: Number of clusters they belong to.
        method: How the bounds were found, or why there are none; for people.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: str


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are found.

    Attributes:
        confidence: Two-sided, in (0, 1).
        resamples: Of the bootstrap.
        seed: Of the bootstrap.
    """

    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0


def estimate(
    statistic: Statistic,
    features: Floats,
    n: int,
    least: float,
    resampling: Resampling,
) -> Estimate:
    """Return a statistic and its interval.

    Args:
        statistic: Of sums of features; its values are at most 1.
        features: `(clusters, F)`, a row for each cluster. Their order does not matter.
        n: Number of items, to be told.
        least: The least value it can have: 0 makes it a share, -1 a coefficient.
        resampling: How the interval is found.
    """
    rows = features[np.lexsort(features.T)] if features.size else features
    clusters = len(rows)
    with np.errstate(divide="ignore", invalid="ignore"):  # what is not defined is NaN
        value = float(statistic(rows.sum(0)))
        if math.isnan(value):
            return Estimate(None, None, None, n, clusters, UNDEFINED)
        low, high, method = _bounds(statistic, rows, value, least, resampling)
    if low is not None and high is not None:
        low, high = max(low, least), min(high, 1.0)
    return Estimate(value, low, high, n, clusters, method)


def difference(
    statistic: Statistic, features: Floats, n: int, most: float, confidence: float
) -> Estimate:
    """Return a difference of two sides and its interval.

    Args:
        statistic: The difference, of sums of features.
        features: `(clusters, F)`, a row for each cluster.
        n: Number of items, to be told.
        most: The largest value it can have, on either side of 0.
        confidence: Two-sided, in (0, 1).
    """
    rows, clusters = features, len(features)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(rows.sum(0)))
        if math.isnan(value):
            return Estimate(None, None, None, n, clusters, UNDEFINED)
        without = _without_each(statistic, rows)
    if len(without) < 2 or np.ptp(without) <= _ALIKE:
        return Estimate(value, None, None, n, clusters, _ALL_ALIKE)
    low, high, method = _jackknife(value, without, confidence)
    return Estimate(value, max(low, -most), min(high, most), n, clusters, method)


def _bounds(
    statistic: Statistic, rows: Floats, value: float, least: float, resampling: Resampling
) -> _Bounds:
    without = _without_each(statistic, rows)
    if len(without) < 2 or np.ptp(without) <= _ALIKE:
        return _alike(value, len(rows), least, resampling.confidence)
    if len(rows) < MIN_CLUSTERS_TO_RESAMPLE:
        return _jackknife(value, without, resampling.confidence)
    return _bootstrap(statistic, rows, value, without, resampling)


def _without_each(statistic: Statistic, rows: Floats) -> Floats:
    """Return the statistic without each cluster in turn, where it is defined."""
    without = statistic(rows.sum(0) - rows)
    return without[~np.isnan(without)]


def _alike(value: float, clusters: int, least: float, confidence: float) -> _Bounds:
    if least == 0.0 and value in (0.0, 1.0) and clusters:
        reach = ((1.0 - confidence) / 2.0) ** (1.0 / clusters)
        low, high = (reach, 1.0) if value else (0.0, 1.0 - reach)
        return low, high, "exact, conversations as trials"
    return None, None, _ALL_ALIKE


def _jackknife(value: float, without: Floats, confidence: float) -> tuple[float, float, str]:
    k = len(without)
    error = float(np.sqrt((k - 1) / k * np.sum((without - without.mean()) ** 2)))
    margin = float(stats.t.ppf((1.0 + confidence) / 2.0, k - 1)) * error
    return value - margin, value + margin, "Student's t over conversations"


def _bootstrap(
    statistic: Statistic, rows: Floats, value: float, without: Floats, resampling: Resampling
) -> _Bounds:
    k = len(rows)
    generator = np.random.default_rng(resampling.seed)
    drawn = generator.multinomial(k, np.full(k, 1.0 / k), size=resampling.resamples)
    values = statistic(drawn @ rows)
    defined = values[~np.isnan(values)]
    if len(defined) < (1.0 - _MOST_UNDEFINED) * resampling.resamples:
        lost = resampling.resamples - len(defined)
        return None, None, f"none: undefined in {lost} of {resampling.resamples} resamples"
    levels = _bca_levels(value, defined, without, expanded(resampling.confidence, k))
    low, high = np.quantile(defined, levels)
    said = f"BCa bootstrap over conversations, {resampling.resamples} resamples"
    return float(low), float(high), said


def _bca_levels(
    value: float, resampled: Floats, without: Floats, confidence: float
) -> tuple[float, float]:
    """Return the quantiles that correct for bias and for a spread that changes with the value."""
    below = np.mean(resampled < value) + np.mean(np.isclose(resampled, value, atol=_ALIKE)) / 2.0
    bias = stats.norm.ppf(np.clip(below, 1.0 / len(resampled), 1.0 - 1.0 / len(resampled)))
    centred = without.mean() - without
    acceleration = float(np.sum(centred**3) / (6.0 * np.sum(centred**2) ** 1.5))
    z = stats.norm.ppf([(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    low, high = stats.norm.cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)))
    return float(low), float(high)
