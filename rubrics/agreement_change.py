"""Agreement over several criteria, and how much better one judge agrees than another.

All sides' tables of counts stand beside each other in a conversation's row, so that a resample of
conversations takes them together, and the interval of a difference is a paired one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .clustered_estimate import Estimate, Resampling, difference, estimate
from .comparison import SHARES, Measure, Pair, Scale, statistics, tables_by_conversation
from .rubric import Rubric
from .shuffled_labels import by_noise, shuffled_tables
from .statistics import Conclusion, Floats

Pairs = Mapping[str, Sequence[Pair]]
_BEYOND_CHANCE = (Measure.KAPPA, Measure.AC1, Measure.BALANCED)
_SHUFFLES = 1999
_ALONE, _AFTER_LESS_BEFORE = (1.0,), (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Part:
    """A criterion among the features: its weight, its scale, and each side's columns."""

    weight: float
    scale: Scale
    sides: tuple[slice, ...]


def level(
    pairs: Pairs,
    scales: Mapping[str, Scale],
    weights: Mapping[str, float],
    measure: Measure,
    resampling: Resampling,
) -> Estimate:
    """Return the mean of a measure over criteria; see `change`."""
    bench = _Bench.of((pairs,), scales, weights)
    least = 0.0 if measure in SHARES else -1.0
    return estimate(
        lambda sums: _mean(sums, bench.parts, _ALONE, measure),
        bench.features,
        bench.n,
        least,
        resampling,
    )


def change(
    before: Pairs,
    after: Pairs,
    scales: Mapping[str, Scale],
    weights: Mapping[str, float],
    measure: Measure,
    resampling: Resampling,
) -> Estimate:
    """Return the mean change of a measure over criteria, after less before.

    What corrects for chance has to be more than shuffled labels give: where it is not, the
    interval is extended to 0; see `shuffled_labels`.

    Args:
        before: One judge's pairs by criterion.
        after: The other's, of the same items.
        scales: Of the criteria.
        weights: Of the criteria; what has no weight, or no pairs, does not count.
        measure: Which one; criteria in which it is undefined do not count.
        resampling: How the interval over conversations is found.
    """
    bench = _Bench.of((before, after), scales, weights)

    def gained(sums: Floats) -> Floats:
        return _mean(sums, bench.parts, _AFTER_LESS_BEFORE, measure)

    most = 1.0 if measure in SHARES else 2.0
    found = difference(gained, bench.features, bench.n, most, resampling.confidence)
    if measure not in _BEYOND_CHANCE or not _excludes_0(found) or found.value is None:
        return found
    names = tuple(bench.scales)
    tables = shuffled_tables((before, after), bench.scales, _SHUFFLES, resampling.seed)
    by_chance = gained(np.concatenate([_flat(tables[name]) for name in names], axis=-1))
    share = by_noise(found.value, by_chance)
    return found if share <= 1.0 - resampling.confidence else _extended(found, share)


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
        raw: Of raw agreement; it decides where kappa has no interval, being the same without any
            conversation, as for a judge that was blind and is perfect. One that says the same of
            everything, before and after, is no better or worse for saying something else.

    Returns:
        None where agreement beyond chance is undefined.
    """
    if kappa.value is None:
        return None
    decides = raw if kappa.low is None or kappa.high is None else kappa
    if decides.low is not None and decides.low > 0 and kappa.value > 0:
        return Conclusion.IMPROVED
    if decides.high is not None and decides.high < 0 and kappa.value < 0:
        return Conclusion.WORSE
    return Conclusion.NO_EVIDENCE


def shown_no_worse(kappa: Estimate, margin: float, confidence: float) -> bool:
    """Say whether a difference shows that one judge is not worse than another by a margin.

    The interval decides, not the difference: few labels show nothing. Where both said the same of
    everything there is no interval; then the share of conversations on which they differ has an
    exact bound (Clopper and Pearson 1934), and kappa, of two values as frequent as each other,
    twice that.

    Args:
        kappa: The difference in agreement beyond chance.
        margin: How much less is as good; above 0.
        confidence: Of the interval.
    """
    if kappa.value is None:
        return False
    if kappa.low is not None:
        return kappa.low > -margin
    reach = 1.0 - ((1.0 - confidence) / 2.0) ** (1.0 / kappa.clusters)
    return kappa.value == 0.0 and 2.0 * reach < margin


def _excludes_0(found: Estimate) -> bool:
    return found.low is not None and found.high is not None and not found.low <= 0 <= found.high


def _extended(found: Estimate, share: float) -> Estimate:
    """Return an estimate whose interval reaches to 0, with why."""
    assert found.low is not None
    assert found.high is not None
    said = f"{found.method}, to 0: shuffled labels give as much in {share:.0%}"
    low, high = min(found.low, 0.0), max(found.high, 0.0)
    return replace(found, low=low, high=high, method=said)


def _flat(tables: Floats) -> Floats:
    """Return tables `(shuffles, sides, K, K)` as features are: side by side, `(shuffles, F)`."""
    return tables.reshape(len(tables), -1)


@dataclass(frozen=True, slots=True)
class _Bench:
    """Sides on the criteria that count, as features of conversations."""

    scales: Mapping[str, Scale]
    features: Floats
    parts: Sequence[_Part]
    n: int

    @classmethod
    def of(
        cls, sides: Sequence[Pairs], scales: Mapping[str, Scale], weights: Mapping[str, float]
    ) -> _Bench:
        names = [name for name, weight in weights.items() if weight and sides[0].get(name)]
        counting = {name: scales[name] for name in names}
        features, parts = _features(sides, counting, weights)
        n = round(sum(pair.weight for name in names for pair in sides[0][name]))
        return cls(counting, features, parts, n)


def _features(
    sides: Sequence[Pairs], scales: Mapping[str, Scale], weights: Mapping[str, float]
) -> tuple[Floats, list[_Part]]:
    """Put the tables of all sides side by side, a row for each conversation."""
    tables = [
        [tables_by_conversation(side[name], scale) for side in sides]
        for name, scale in scales.items()
    ]
    row = {
        name: index
        for index, name in enumerate(
            sorted({name for each in tables for side in each for name in side})
        )
    }
    blocks: list[Floats] = []
    parts: list[_Part] = []
    start = 0
    for (name, scale), of_sides in zip(scales.items(), tables, strict=True):
        columns: list[slice] = []
        for found in of_sides:
            block = np.zeros((len(row), len(scale.values) ** 2))
            for conversation, table in found.items():
                block[row[conversation]] = table.ravel()
            blocks.append(block)
            columns.append(slice(start, start + block.shape[1]))
            start += block.shape[1]
        parts.append(_Part(weights[name], scale, tuple(columns)))
    return np.hstack(blocks) if blocks else np.zeros((0, 0)), parts


def _mean(
    sums: Floats, parts: Sequence[_Part], contrast: Sequence[float], measure: Measure
) -> Floats:
    """Return the weighted mean, over criteria, of what the sides come to by the contrast."""
    total = np.zeros(sums.shape[:-1])
    weight = np.zeros(sums.shape[:-1])
    for part in parts:
        size = len(part.scale.values)
        statistic = statistics(part.scale)[measure]
        found = sum(
            (
                sign * statistic(sums[..., columns].reshape(*sums.shape[:-1], size, size))
                for sign, columns in zip(contrast, part.sides, strict=True)
            ),
            np.zeros(sums.shape[:-1]),
        )
        defined = ~np.isnan(found)
        total += np.where(defined, part.weight * np.nan_to_num(found), 0.0)
        weight += np.where(defined, part.weight, 0.0)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
