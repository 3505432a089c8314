"""How much better one judge agrees with people than another, on the same items.

Both sides' tables of counts stand beside each other in a conversation's row, so that a resample
of conversations takes them together, and the interval is that of the paired difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .clustered_estimate import Estimate, Resampling, estimate
from .comparison import Measure, Pair, Scale, statistics, tables_by_conversation
from .rubric import Rubric
from .statistics import Conclusion, Floats

Pairs = Mapping[str, Sequence[Pair]]
_LEAST = -2.0  # from a coefficient of 1 to one of -1


@dataclass(frozen=True, slots=True)
class _Part:
    weight: float
    scale: Scale
    before: slice
    after: slice


def change(
    before: Pairs,
    after: Pairs,
    scales: Mapping[str, Scale],
    weights: Mapping[str, float],
    measure: Measure,
    resampling: Resampling,
) -> Estimate:
    """Return the mean change of a measure over criteria, after less before.

    Args:
        before: One judge's pairs by criterion.
        after: The other's, of the same items.
        scales: Of the criteria.
        weights: Of the criteria; what has no weight, or no pairs, does not count.
        measure: Which one; criteria in which it is undefined do not count.
        resampling: How the interval over conversations is found.
    """
    names = [name for name, weight in weights.items() if weight and before.get(name)]
    row = {
        name: index
        for index, name in enumerate(sorted({p.conversation for n in names for p in before[n]}))
    }
    sizes = [len(scales[name].values) ** 2 for name in names]
    features = np.zeros((len(row), 2 * sum(sizes)))
    parts: list[_Part] = []
    start = 0
    for name, size in zip(names, sizes, strict=True):
        first, second = slice(start, start + size), slice(start + size, start + 2 * size)
        for columns, pairs in ((first, before[name]), (second, after[name])):
            for conversation, table in tables_by_conversation(pairs, scales[name]).items():
                features[row[conversation], columns] = table.ravel()
        parts.append(_Part(weights[name], scales[name], first, second))
        start += 2 * size
    n = sum(len(before[name]) for name in names)
    return estimate(lambda sums: _mean(sums, parts, measure), features, n, _LEAST, resampling)


def flat_weights(rubric: Rubric, criteria: Sequence[str]) -> dict[str, float]:
    """Return what each of some criteria weighs overall: its points' share of its domain's weight.

    Domains without any of them have no weight.
    """
    weights: dict[str, float] = {}
    for domain in rubric.domains:
        held = [each for each in rubric.in_domain(domain.id) if each.id in criteria]
        points = sum(each.points for each in held)
        for each in held:
            weights[each.id] = domain.weight * each.points / points if points else 0.0
    return weights


def concluded(kappa: Estimate, raw: Estimate) -> Conclusion | None:
    """Say what differences allow to be said.

    Args:
        kappa: Of agreement beyond chance; it decides.
        raw: Of raw agreement; it decides where kappa is the same in every resample, as for a
            judge that was blind and is perfect, and so has no interval.

    Returns:
        None where agreement beyond chance is undefined.
    """
    if kappa.value is None:
        return None
    difference = raw if kappa.low is None or kappa.high is None else kappa
    if difference.low is not None and difference.low > 0:
        return Conclusion.IMPROVED
    if difference.high is not None and difference.high < 0:
        return Conclusion.WORSE
    return Conclusion.NO_EVIDENCE


def _mean(sums: Floats, parts: Sequence[_Part], measure: Measure) -> Floats:
    total = np.zeros(sums.shape[:-1])
    weight = np.zeros(sums.shape[:-1])
    for part in parts:
        size = len(part.scale.values)
        statistic = statistics(part.scale)[measure]
        before, after = (
            statistic(sums[..., columns].reshape(*sums.shape[:-1], size, size))
            for columns in (part.before, part.after)
        )
        gained = after - before
        defined = ~np.isnan(gained)
        total += np.where(defined, part.weight * np.nan_to_num(gained), 0.0)
        weight += np.where(defined, part.weight, 0.0)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
