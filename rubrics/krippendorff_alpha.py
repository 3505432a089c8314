"""Krippendorff's alpha: agreement among any number of annotators, some of whom may be missing.

Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability". It is written here, and not
taken from the library of that name, because that is under the GPL; the tests compare the two.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from .statistics import Floats


class Level(StrEnum):
    """What the distance between two values means.

    Attributes:
        NOMINAL: Values are the same or not.
        ORDINAL: Values have an order; how far two are apart is how many ratings lie between.
        INTERVAL: Differences of values mean what they say.
    """

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def coincidences(ratings: Floats) -> Floats:
    """Return how often values meet in items, so that each rating counts once.

    Args:
        ratings: `(items, K)`: how many annotators gave each value. An item with fewer than two
            ratings says nothing about agreement, and has none.

    Returns:
        `(items, K, K)`, symmetric. Sums over items are what `alpha` takes.
    """
    total = ratings.sum(-1)
    pairs = ratings[:, :, None] * ratings[:, None, :]
    pairs -= ratings[:, :, None] * np.eye(ratings.shape[-1])
    return pairs * np.where(total > 1, 1.0 / np.maximum(total - 1.0, 1.0), 0.0)[:, None, None]


def alpha(met: Floats, level: Level, values: Floats) -> Floats:
    """Return alpha of tables of coincidences.

    Args:
        met: `(..., K, K)`.
        level: What distances mean.
        values: `(K,)`, ascending; of meaning for `INTERVAL` only.

    Returns:
        `(...)`, at most 1; 0 is what chance gives. NaN when only one value was given.
    """
    given = met.sum(-1)
    total = given.sum(-1)
    distance = _distances(given, level, values)
    observed = (met * distance).sum((-2, -1))
    expected = (given[..., :, None] * given[..., None, :] * distance).sum((-2, -1))
    varied = (given > 0).sum(-1) > 1
    ratio = observed / np.where(varied, expected, 1.0)
    return np.where(varied, 1.0 - (total - 1.0) * ratio, np.nan)


def _distances(given: Floats, level: Level, values: Floats) -> Floats:
    match level:
        case Level.NOMINAL:
            return 1.0 - np.eye(given.shape[-1])
        case Level.INTERVAL:
            return np.subtract.outer(values, values) ** 2
        case Level.ORDINAL:
            # The middle of each value's ratings, all ratings being put in order.
            middle = np.cumsum(given, axis=-1) - given / 2.0
            return (middle[..., :, None] - middle[..., None, :]) ** 2
