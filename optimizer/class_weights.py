"""Class weights: what a disagreement costs, so that no constant judge is better than another.

Item i of criterion c, of which people say k, weighs w = 1 / (K n), where K is the number of
different values in the gold of c over the tuning set (train and val), and n how many items have
the value k. A conversation's score is 1 - (sum of w over the items the judge has wrong) / W, where
W is the largest sum of w that a conversation has. Over the M conversations of the tuning set its
mean is

    1 - (sum over criteria of (1 - balanced accuracy)) / (M W),

so a judge that always says the same loses 1 - 1/K on a criterion, whatever it says and however
often that is right.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from ..rubrics.gold import GoldLabel, Vote
from .annotated_conversation import AnnotatedConversation


@dataclass(frozen=True)
class ClassWeights:
    """The values of a tuning set.

    Attributes:
        counts: By criterion, how often each value is in the gold.
        heaviest: The largest sum of weights of a conversation; W above.
        heaviest_of: The same by criterion.
    """

    counts: Mapping[str, Counter[Vote]]
    heaviest: float
    heaviest_of: Mapping[str, float]

    @classmethod
    def of(cls, tuning: Iterable[AnnotatedConversation]) -> ClassWeights:
        """Count the values of a tuning set."""
        conversations = list(tuning)
        counts: defaultdict[str, Counter[Vote]] = defaultdict(Counter)
        for one in conversations:
            for label in one.labels:
                counts[label.item.criterion].update(label.options[:1])
        bare = cls(dict(counts), 1.0, {})
        sums = [_sums(one, bare) for one in conversations]
        return cls(
            bare.counts,
            max((sum(each.values()) for each in sums), default=1.0),
            {name: max(each.get(name, 0.0) for each in sums) for name in counts},
        )

    def of_label(self, label: GoldLabel) -> float:
        """Return what an item weighs; a value that the tuning set lacks as if it had it once."""
        counts = self.counts.get(label.item.criterion, Counter())
        kinds = max(1, len(counts))
        return fmean(1.0 / (kinds * max(1, counts[option])) for option in label.options)

    @cached_property
    def constant(self) -> tuple[str, ...]:
        """The criteria of which people say only one thing: nothing can be tuned by them."""
        return tuple(name for name, counts in self.counts.items() if len(counts) < 2)


def _sums(conversation: AnnotatedConversation, weights: ClassWeights) -> Mapping[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for label in conversation.labels:
        sums[label.item.criterion] += weights.of_label(label)
    return sums
