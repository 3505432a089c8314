"""Coefficients of agreement, as functions of a table of counts.

A table has a row for each value that people give and a column for each that is held against it,
in the order of the scale, the worst first. All functions take any number of tables at once
(`(..., K, K)` in, `(...)` out), so that a bootstrap computes all its resamples together. A
coefficient that a table does not define is NaN: above all, when people gave one value only,
nothing can be said beyond the raw agreement, however perfect it looks.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .statistics import Floats

Flags = NDArray[np.bool_]
Weighting = Literal["equal", "quadratic"]


def raw_agreement(counts: Floats) -> Floats:
    """Return the share of items with the same value on both sides, in [0, 1]."""
    return _ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum((-2, -1)))


def cohen_kappa(counts: Floats, weighting: Weighting = "equal") -> Floats:
    """Return Cohen's kappa (1960), or the weighted kappa (1968).

    Args:
        counts: `(..., K, K)`.
        weighting: `quadratic` weighs a disagreement by the square of how many steps of the scale
            it is.

    Returns:
        At most 1; 0 is what chance gives.
    """
    weights = _disagreement(counts.shape[-1], weighting)
    total = counts.sum((-2, -1))
    by_chance = counts.sum(-1)[..., :, None] * counts.sum(-2)[..., None, :]
    expected = _ratio((by_chance * weights).sum((-2, -1)), total)
    kappa = 1.0 - _ratio((counts * weights).sum((-2, -1)), expected)
    return np.where(_has_two_values(counts), kappa, np.nan)


def gwet_ac1(counts: Floats) -> Floats:
    """Return Gwet's AC1 (2008), which stays near the raw agreement when one value is rare."""
    total = counts.sum((-2, -1))
    shares = _ratio(counts.sum(-1) + counts.sum(-2), 2.0 * total[..., None])
    expected = (shares * (1.0 - shares)).sum(-1) / (counts.shape[-1] - 1)
    coefficient = _ratio(raw_agreement(counts) - expected, 1.0 - expected)
    return np.where(_has_two_values(counts), coefficient, np.nan)


def balanced_accuracy(counts: Floats) -> Floats:
    """Return the mean, over the values that people gave, of the share of each that was found."""
    found = np.diagonal(counts, axis1=-2, axis2=-1)
    rows = counts.sum(-1)
    given = rows > 0
    recalls = np.where(given, _ratio(found, rows), 0.0)
    return np.where(_has_two_values(counts), _ratio(recalls.sum(-1), given.sum(-1)), np.nan)


def failure_recall(counts: Floats, fails: Flags) -> Floats:
    """Return the share of the people's failures that the other side calls one, too.

    Args:
        counts: `(..., K, K)`.
        fails: `(K,)`: which values are failures.
    """
    of_people = counts[..., fails, :]
    return _ratio(of_people[..., fails].sum((-2, -1)), of_people.sum((-2, -1)))


def failure_precision(counts: Floats, fails: Flags) -> Floats:
    """Return the share of the other side's failures that people call one, too."""
    of_others = counts[..., :, fails]
    return _ratio(of_others[..., fails, :].sum((-2, -1)), of_others.sum((-2, -1)))


def _disagreement(size: int, weighting: Weighting) -> Floats:
    step = np.subtract.outer(np.arange(size), np.arange(size)).astype(np.float64)
    return step**2 if weighting == "quadratic" else (step != 0).astype(np.float64)


def _has_two_values(counts: Floats) -> Flags:
    return (counts.sum(-1) > 0).sum(-1) > 1


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide; by 0 it is NaN."""
    defined = whole != 0
    return np.where(defined, part / np.where(defined, whole, 1.0), np.nan)
