"""The paired test: how surprising a difference would be if the two sides were alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

_NOTHING = 1e-12


def paired_p_value(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[str],
    *,
    resamples: int = 20_000,
    seed: int = 0,
) -> float:
    """Return the two-sided p-value of the mean of `after - before`.

    Sign-flip permutation test over clusters (Fisher 1935, "The Design of Experiments", section
    21): if the two sides are alike, each cluster's difference could as well have had the other
    sign. With pass/fail values and one example a cluster it is McNemar's exact test. All sign
    flips are tried when there are no more than `resamples`, else so many are drawn.

    Args:
        before: One value per example.
        after: The values of the same examples in the same order.
        clusters: The family of each example.
        resamples: Sign flips tried at most.
        seed: Of the draw.

    Raises:
        ValueError: The lengths differ.
    """
    if not len(before) == len(after) == len(clusters):
        raise ValueError(f"{len(before)} before, {len(after)} after, {len(clusters)} clusters")
    _, member = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    sums = np.sort(np.bincount(member, np.asarray(after, float) - np.asarray(before, float)))
    moved = sums[np.abs(sums) > _NOTHING]  # the flips of the others change nothing
    if len(moved) < 2:  # both signs of a single one are equally far from 0
        return 1.0
    result = stats.permutation_test(
        (moved,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)
