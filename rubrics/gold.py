"""Gold: what several annotators together say of an item, and how far they agree on it.

Where they are split evenly, the item is `inconclusive` and keeps all the values they are split
between: it is shown, and a judge is held against each of them by an equal part.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum

import numpy as np

from .annotation import Annotation, Item
from .dawid_skene import true_values
from .rubric import Rubric
from .verdict import Status

_ALIKE = 1e-9


Vote = float | Status
"""What an annotator decides: a value, or that the criterion does not apply."""


class GoldMethod(StrEnum):
    """How several annotators' values become one.

    Attributes:
        MAJORITY: The value most of them gave.
        MEAN: The value of the scale that is nearest to their mean, the lower of two; of those
            that gave one, if more did than said that it does not apply.
        DAWID_SKENE: The most probable value, by what can be learned of each annotator's errors
            over all items of the criterion.
    """

    MAJORITY = "majority"
    MEAN = "mean"
    DAWID_SKENE = "dawid-skene"


@dataclass(frozen=True, slots=True)
class GoldLabel:
    """What annotators say of an item.

    Attributes:
        item: What it is about.
        status: `inconclusive` where they are split evenly, or nobody could say.
        value: On the criterion's scale; None unless scored.
        annotators: How many decided.
        certainty: Share of them that gave this value, in [0, 1]; of Dawid and Skene's model its
            probability.
        mean: The mean of the values given, None when there are none.
        options: What they decided: one value or status, or several where they are split evenly;
            empty where nobody could say.
        said: The annotations.
    """

    item: Item
    status: Status
    value: float | None
    annotators: int
    certainty: float
    mean: float | None
    options: tuple[Vote, ...]
    said: tuple[Annotation, ...]


_Decision = tuple[tuple[Vote, ...], float]
"""What was decided, several values where it is none of them alone; and how certain it is."""


def by_item(
    annotations: Iterable[Annotation], rubric: Rubric | None
) -> dict[Item, tuple[Annotation, ...]]:
    """Return annotations by what they are about; see `Annotation.item`."""
    found: dict[Item, list[Annotation]] = defaultdict(list)
    for annotation in annotations:
        found[annotation.item(rubric)].append(annotation)
    items = sorted(found, key=lambda item: item.order)
    return {item: tuple(sorted(found[item], key=lambda each: each.annotator)) for item in items}


def gold(
    items: Mapping[Item, tuple[Annotation, ...]],
    scales: Mapping[str, Sequence[float]],
    method: GoldMethod = GoldMethod.MAJORITY,
) -> tuple[GoldLabel, ...]:
    """Return one value for every item, ties included.

    Args:
        items: Annotations by what they are about; see `by_item`.
        scales: The values of each criterion; of use for `MEAN` only.
        method: How several values become one.
    """
    match method:
        case GoldMethod.MAJORITY:
            decided = {item: majority(votes_of(said)) for item, said in items.items()}
        case GoldMethod.MEAN:
            decided = {
                item: nearest(votes_of(said), scales[item.criterion])
                for item, said in items.items()
            }
        case GoldMethod.DAWID_SKENE:
            decided = _modelled(items)
    return tuple(_label(item, said, *decided[item]) for item, said in items.items())


def for_tuning(labels: Iterable[GoldLabel], least_certainty: float) -> tuple[GoldLabel, ...]:
    """Return the labels that are clear enough to learn from: no ties, and none too uncertain.

    What a judge is tested on is never chosen like this: it would be the easy part.
    """
    return tuple(
        each
        for each in labels
        if each.status is not Status.INCONCLUSIVE and each.certainty >= least_certainty - _ALIKE
    )


def votes_of(said: Iterable[Annotation]) -> list[Vote]:
    """Return what annotators decided; who could not say has no vote."""
    return [
        each.status if each.value is None else each.value
        for each in said
        if each.status is not Status.INCONCLUSIVE
    ]


def majority(votes: Sequence[Vote]) -> _Decision:
    """Return what most decided, and the share of them that did."""
    counts = Counter(votes)
    most = max(counts.values(), default=0)
    first = tuple(vote for vote, count in counts.items() if count == most)
    return first, most / len(votes) if votes else 0.0


def nearest(votes: Sequence[Vote], scale: Sequence[float]) -> _Decision:
    """Return the value of a scale that is nearest to the votes' mean, the lower of two.

    It is returned with the share of the votes for it. Where as many or more say that it does not
    apply as give a value, this is what is decided, or is a tie with the value.
    """
    values = [vote for vote in votes if not isinstance(vote, Status)]
    if not values:
        return majority(votes)
    mean = fsum(values) / len(values)
    value = min(sorted(scale), key=lambda each: round(abs(each - mean), 9))
    others = len(votes) - len(values)
    if len(values) > others:
        return (value,), values.count(value) / len(votes)
    tied = (value, Status.NOT_APPLICABLE) if len(values) == others else (Status.NOT_APPLICABLE,)
    return tied, others / len(votes)


def _modelled(items: Mapping[Item, tuple[Annotation, ...]]) -> dict[Item, _Decision]:
    decided: dict[Item, _Decision] = {}
    for criterion in dict.fromkeys(item.criterion for item in items):
        of_it = {item: said for item, said in items.items() if item.criterion == criterion}
        voted = {item: said for item, said in of_it.items() if votes_of(said)}
        decided |= dict.fromkeys(of_it, ((), 0.0))
        if voted:
            decided |= _most_probable(voted)
    return decided


def _most_probable(items: Mapping[Item, tuple[Annotation, ...]]) -> dict[Item, _Decision]:
    options = sorted({vote for said in items.values() for vote in votes_of(said)}, key=str)
    people = sorted({each.annotator for said in items.values() for each in said})
    votes = np.zeros((len(items), len(people), len(options)))
    for number, said in enumerate(items.values()):
        for each in said:
            for vote in votes_of([each]):
                votes[number, people.index(each.annotator), options.index(vote)] += 1.0
    decided: dict[Item, _Decision] = {}
    for item, shares in zip(items, true_values(votes), strict=True):
        best = np.flatnonzero(shares > shares.max() - _ALIKE)
        decided[item] = tuple(options[index] for index in best), float(shares.max())
    return decided


def _label(
    item: Item, said: tuple[Annotation, ...], options: tuple[Vote, ...], certainty: float
) -> GoldLabel:
    values = [each.value for each in said if each.value is not None]
    decided = options[0] if len(options) == 1 else Status.INCONCLUSIVE
    return GoldLabel(
        item=item,
        status=decided if isinstance(decided, Status) else Status.SCORED,
        value=None if isinstance(decided, Status) else decided,
        annotators=len(votes_of(said)),
        certainty=certainty,
        mean=fsum(values) / len(values) if values else None,
        options=options,
        said=said,
    )
