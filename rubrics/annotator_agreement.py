"""How far people agree among themselves: the most that can be asked of a judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan

import numpy as np

from .annotation import Annotation, Item
from .clustered_estimate import Estimate, Resampling, estimate
from .comparison import (
    Comparison,
    Measure,
    Pair,
    Scale,
    compare,
    statistics,
    tables_by_conversation,
)
from .gold import Vote, majority, nearest, votes_of
from .krippendorff_alpha import Level, alpha, coincidences
from .statistics import Floats
from .verdict import Status

Items = Mapping[Item, tuple[Annotation, ...]]


@dataclass(frozen=True, slots=True)
class TwoAnnotators:
    """Two annotators on the items to which both gave a value.

    Attributes:
        first: One of them.
        second: The other.
        n: Number of items.
        raw: Share of items with the same value.
        kappa: Cohen's kappa, as in `Measure`; None when it is not defined.
    """

    first: str
    second: str
    n: int
    raw: float
    kappa: float | None


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """People on one criterion.

    Attributes:
        scale: Its values.
        level: What their distances mean to `alpha`.
        items: Number of items with a value by anybody.
        shared: Number of those with values by two or more: only they tell anything.
        ratings: Number of values.
        annotators: Who gave them.
        not_applicable: How often somebody said that it does not apply.
        alpha: Krippendorff's alpha.
        left_out: Each annotator's values (the columns) against what the others say (the rows),
            all together: what a person reaches.
        pairs: Every two annotators who share items.
    """

    scale: Scale
    level: Level
    items: int
    shared: int
    ratings: int
    annotators: tuple[str, ...]
    not_applicable: int
    alpha: Estimate
    left_out: Comparison
    pairs: tuple[TwoAnnotators, ...]


def among_annotators(
    items: Items, scale: Scale, level: Level, resampling: Resampling
) -> AnnotatorAgreement:
    """Measure how far people agree on one criterion, with intervals over conversations.

    Args:
        items: The annotations of that criterion by what they are about.
        scale: Its values.
        level: What their distances mean.
        resampling: How intervals are found.
    """
    scored = {item: values for item, said in items.items() if (values := _values(said))}
    return AnnotatorAgreement(
        scale=scale,
        level=level,
        items=len(scored),
        shared=sum(len(values) > 1 for values in scored.values()),
        ratings=sum(map(len, scored.values())),
        annotators=tuple(sorted({name for values in scored.values() for name in values})),
        not_applicable=sum(
            each.status is Status.NOT_APPLICABLE for said in items.values() for each in said
        ),
        alpha=_alpha(scored, scale, level, resampling),
        left_out=compare(tuple(left_out_pairs(items, scale)), scale, resampling),
        pairs=tuple(_two_by_two(scored, scale)),
    )


def left_out_pairs(items: Items, scale: Scale) -> Iterator[Pair]:
    """Yield each annotator's value with what the others say of the same item.

    Of two values that is the majority's, of more the nearest to the mean. Where the others are
    split evenly, each of their values counts by an equal part.
    """
    for item, said in items.items():
        for left_out in said:
            others = votes_of(each for each in said if each is not left_out)
            options = _together(others, scale)
            for option in options:
                if left_out.value is not None and not isinstance(option, Status):
                    yield Pair(item.conversation, option, left_out.value, 1.0 / len(options))


def _together(votes: Sequence[Vote], scale: Scale) -> tuple[Vote, ...]:
    few = len(scale.values) <= 2
    options, _ = majority(votes) if few else nearest(votes, scale.values)
    return options


def _values(said: Sequence[Annotation]) -> dict[str, float]:
    return {each.annotator: each.value for each in said if each.value is not None}


def _alpha(
    scored: Mapping[Item, Mapping[str, float]], scale: Scale, level: Level, resampling: Resampling
) -> Estimate:
    shared = {item: values for item, values in scored.items() if len(values) > 1}
    size = len(scale.values)
    conversations = sorted({item.conversation for item in shared})
    row = {name: index for index, name in enumerate(conversations)}
    place = {value: index for index, value in enumerate(scale.values)}
    ratings = np.zeros((len(shared), size))
    for number, values in enumerate(shared.values()):
        for value in values.values():
            ratings[number, place[value]] += 1.0
    met = np.zeros((len(conversations), size * size))
    rows = [row[item.conversation] for item in shared]
    np.add.at(met, rows, coincidences(ratings).reshape(len(shared), size * size))

    def of_rows(sums: Floats) -> Floats:
        return alpha(sums.reshape(*sums.shape[:-1], size, size), level, np.array(scale.values))

    return estimate(of_rows, met, len(shared), -1.0, resampling)


def _two_by_two(
    scored: Mapping[Item, Mapping[str, float]], scale: Scale
) -> Iterator[TwoAnnotators]:
    shared: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for item, values in scored.items():
        for first, second in combinations(sorted(values), 2):
            pair = Pair(item.conversation, values[first], values[second])
            shared[first, second].append(pair)
    measures = statistics(scale)
    for (first, second), pairs in sorted(shared.items()):
        counts = np.sum(list(tables_by_conversation(pairs, scale).values()), axis=0)
        raw, kappa = (float(measures[each](counts)) for each in (Measure.RAW, Measure.KAPPA))
        yield TwoAnnotators(first, second, len(pairs), raw, None if isnan(kappa) else kappa)
