"""Shuffled labels: what differences two judges show where nobody's labels say anything.

A permutation test (Fisher 1935) of the null that labels have nothing to do with what the judges
say. It is exact where intervals from the spread of few items are not: of eight failures among
forty labels a judge who guesses finds none in one case of six, and then every resample says that
it is worse than guessing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from .comparison import Pair, Scale
from .statistics import Floats

Shuffled = Mapping[str, Floats]
"""By criterion, tables `(shuffles, sides, K, K)`."""


@dataclass(frozen=True, slots=True)
class _Items:
    """One criterion: labels by conversation, and the sides' values in the same order."""

    labels: tuple[Floats, ...]
    said: Floats
    sides: int

    def shuffled(self, order: Sequence[int]) -> Floats:
        """Return the sides' tables, `(sides, K, K)`, with conversations' labels in this order."""
        labels = np.concatenate([self.labels[place] for place in order])
        tables = labels.T @ self.said
        return tables.reshape(len(tables), self.sides, -1).swapaxes(0, 1)


def shuffled_tables(
    sides: Sequence[Mapping[str, Sequence[Pair]]],
    scales: Mapping[str, Scale],
    shuffles: int,
    seed: int,
) -> Shuffled:
    """Return the sides' tables of counts after labels were dealt out anew.

    A conversation's labels stay together, as they resemble each other.

    Args:
        sides: The pairs of each side by criterion, of the same items in the same order.
        scales: Of the criteria.
        shuffles: How often.
        seed: Of the shuffling.
    """
    generator = np.random.default_rng(seed)
    found: dict[str, Floats] = {}
    for name, scale in scales.items():
        items = _items([side[name] for side in sides], scale)
        orders = (generator.permutation(len(items.labels)) for _ in range(shuffles))
        found[name] = np.stack([items.shuffled(order.tolist()) for order in orders])
    return found


def by_noise(observed: float, shuffled: Floats) -> float:
    """Return how often shuffled labels give a difference as far out as one, on either side.

    Args:
        observed: The difference.
        shuffled: Those of shuffled labels; undefined ones are NaN and do not count.

    Returns:
        Twice the share of the smaller tail, at most 1. Of what is just as far out half counts
        (mid-p, Lancaster 1961): differences of few items have few values.
    """
    known = shuffled[~np.isnan(shuffled)]
    same = np.mean(np.isclose(known, observed, atol=1e-9)) / 2.0
    above, below = np.mean(known > observed + 1e-9), np.mean(known < observed - 1e-9)
    return min(1.0, 2.0 * float(min(above, below) + same))


def _items(sides: Sequence[Sequence[Pair]], scale: Scale) -> _Items:
    """Put labels in one array for each conversation; pairs of one item stand beside each other."""
    place = {value: index for index, value in enumerate(scale.values)}
    size = len(place)
    rows = sorted(zip(*sides, strict=True), key=_conversation)
    labels = np.zeros((len(rows), size))
    said = np.zeros((len(rows), len(sides) * size))
    for index, pairs in enumerate(rows):
        labels[index, place[pairs[0].gold]] = pairs[0].weight
        for side, pair in enumerate(pairs):
            said[index, side * size + place[pair.said]] = 1.0
    ends = np.cumsum([len(list(group)) for _, group in groupby(rows, key=_conversation)])
    return _Items(tuple(np.split(labels, ends[:-1])), said, len(sides))


def _conversation(pairs: Sequence[Pair]) -> str:
    return pairs[0].conversation
