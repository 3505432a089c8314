"""Multiplicity: p-values of many comparisons at once, so that none is found by looking often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that all of them together are wrong no more often than one alone.

    Step-down Bonferroni (Holm 1979, "A simple sequentially rejective multiple test procedure"):
    the i-th smallest of m is multiplied by m - i + 1, never below an earlier one nor above 1. It
    holds however the comparisons depend on each other.

    Args:
        p_values: One per comparison, in [0, 1].

    Returns:
        The adjusted p-values in the same order.
    """
    found = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(found, kind="stable")
    stepped = found[order] * np.arange(len(found), 0, -1)
    adjusted = np.empty_like(found)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted.tolist()
