"""How many labels it takes to say how far a judge agrees with people."""

from __future__ import annotations

from math import ceil

from scipy import stats

_USUAL_AGREEMENT, _BY_CHANCE = 0.8, 0.5


def labels_needed(width: float, confidence: float = 0.95) -> int:
    """Return about how many tested items give kappa an interval of this width.

    By the large-sample variance of kappa (Cohen 1960), p (1 - p) / (n (1 - e)^2), at an agreement
    p of 0.8 where chance would agree in e = 0.5, as with passes and failures in equal numbers.

    Args:
        width: From the lower to the upper bound.
        confidence: Of the interval.
    """
    z = float(stats.norm.ppf((1 + confidence) / 2))
    spread = _USUAL_AGREEMENT * (1 - _USUAL_AGREEMENT) / (1 - _BY_CHANCE) ** 2
    return ceil(spread * (2 * z / width) ** 2)
