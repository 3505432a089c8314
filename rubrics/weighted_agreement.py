"""Agreement by domain and overall, weighted as the rubric weighs them.

A domain's agreement is the mean over its criteria, by points; overall it is the mean over the
domains, by weight. Criteria and domains of which nothing is defined carry no weight. Kappa is
taken within each criterion first: over all verdicts of a domain together it would be flattered by
criteria that fail often beside others that hardly ever do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .clustered_estimate import Estimate, Resampling, estimate
from .comparison import Measure, Pair, Scale, statistics, tables_by_conversation
from .rubric import Rubric
from .statistics import Floats


@dataclass(frozen=True, slots=True)
class WeightedAgreement:
    """A mean of criteria.

    Attributes:
        criteria: How many it is of.
        raw: Raw agreement.
        kappa: Cohen's kappa.
        kappa_of: The criteria that have one: of the others nothing beyond chance can be said.
    """

    criteria: int
    raw: Estimate
    kappa: Estimate
    kappa_of: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A criterion among the features: its weight, its scale, and which columns are its table."""

    weight: float
    scale: Scale
    columns: slice


def by_domain(
    pairs: Mapping[str, Sequence[Pair]],
    scales: Mapping[str, Scale],
    rubric: Rubric,
    resampling: Resampling,
) -> dict[str, WeightedAgreement]:
    """Return agreement by domain id, for the domains with criteria that were compared.

    Args:
        pairs: What was compared, by criterion; those without points carry no weight.
        scales: Of these criteria.
        rubric: What weighs them.
        resampling: How intervals are found.
    """
    found: dict[str, WeightedAgreement] = {}
    for domain in rubric.domains:
        weights = {each.id: each.points for each in rubric.in_domain(domain.id)}
        features, parts = _features(pairs, scales, weights)
        if parts:
            found[domain.id] = _weighted(features, [parts], [1.0], resampling)
    return found


def overall(
    pairs: Mapping[str, Sequence[Pair]],
    scales: Mapping[str, Scale],
    rubric: Rubric,
    resampling: Resampling,
) -> WeightedAgreement | None:
    """Return agreement over all domains; None when nothing was compared; see `by_domain`."""
    points = {each.id: each.points for each in rubric.criteria}
    features, parts = _features(pairs, scales, points)
    criteria = [name for name in points if _counts(pairs, points, name)]
    groups = [
        [part for name, part in zip(criteria, parts, strict=True) if name in ids]
        for ids in ({each.id for each in rubric.in_domain(d.id)} for d in rubric.domains)
    ]
    weights = [domain.weight for domain in rubric.domains]
    return _weighted(features, groups, weights, resampling) if parts else None


def _counts(pairs: Mapping[str, Sequence[Pair]], weights: Mapping[str, float], name: str) -> bool:
    return bool(weights[name] and pairs.get(name))


def _features(
    pairs: Mapping[str, Sequence[Pair]],
    scales: Mapping[str, Scale],
    weights: Mapping[str, float],
) -> tuple[Floats, list[_Part]]:
    """Put the tables of several criteria side by side, a row for each conversation."""
    names = [name for name in weights if _counts(pairs, weights, name)]
    row = {
        conversation: index
        for index, conversation in enumerate(
            sorted({pair.conversation for name in names for pair in pairs[name]})
        )
    }
    sizes = [len(scales[name].values) ** 2 for name in names]
    features = np.zeros((len(row), sum(sizes)))
    parts: list[_Part] = []
    start = 0
    for name, size in zip(names, sizes, strict=True):
        columns = slice(start, start + size)
        for conversation, table in tables_by_conversation(pairs[name], scales[name]).items():
            features[row[conversation], columns] = table.ravel()
        parts.append(_Part(weights[name], scales[name], columns))
        start += size
    return features, parts


def _weighted(
    features: Floats,
    groups: Sequence[Sequence[_Part]],
    weights: Sequence[float],
    resampling: Resampling,
) -> WeightedAgreement:
    def mean(measure: Measure, sums: Floats) -> Floats:
        groups_means = [
            _mean([_value(measure, part, sums) for part in parts], [p.weight for p in parts])
            for parts in groups
            if parts
        ]
        held = [weight for weight, parts in zip(weights, groups, strict=True) if parts]
        return _mean(groups_means, held)

    parts = [part for group in groups for part in group]
    total = features.sum(0)
    raw, kappa = (
        estimate(
            lambda sums, measure=measure: mean(measure, sums),
            features,
            round(total.sum()),
            least,
            resampling,
        )
        for measure, least in ((Measure.RAW, 0.0), (Measure.KAPPA, -1.0))
    )
    defined = sum(not np.isnan(_value(Measure.KAPPA, part, total)) for part in parts)
    return WeightedAgreement(len(parts), raw, kappa, defined)


def _value(measure: Measure, part: _Part, sums: Floats) -> Floats:
    size = len(part.scale.values)
    table = sums[..., part.columns].reshape(*sums.shape[:-1], size, size)
    return statistics(part.scale)[measure](table)


def _mean(values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return the weighted mean of what is defined."""
    stacked = np.stack(values, axis=-1)
    held = np.where(np.isnan(stacked), 0.0, np.array(weights))
    total = held.sum(-1)
    weighed = (held * np.nan_to_num(stacked)).sum(-1)
    return np.where(total > 0, weighed / np.where(total > 0, total, 1.0), np.nan)
