"""Splitting scenarios into train, val and test, by family, so that test measures what is new.

A family stays whole. Families are dealt out one by one, those of the rarest label first, each to
the split that still lacks most of that label: iterative stratification (Sechidis, Tsoumakas and
Vlahavas, 2011), with whole families in place of single examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.counted import counted
from ..agents.errors import UsageError
from .scenario import Scenario

EVERY = "every scenario"  # a label that all have, so that sizes are balanced too


class Shares(BaseModel):
    """How large each split should be, as a share of all scenarios; together they are 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    train: float = Field(default=0.5, gt=0, lt=1)
    val: float = Field(default=0.2, gt=0, lt=1)
    test: float = Field(default=0.3, gt=0, lt=1)

    @model_validator(mode="after")
    def _is_everything(self) -> Self:
        total = self.train + self.val + self.test
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the shares of train, val and test add up to {total:g}, not to 1")
        return self


def split_scenarios(
    scenarios: Sequence[Scenario], shares: Shares | None = None, seed: int = 0
) -> dict[str, tuple[Scenario, ...]]:
    """Deal scenarios out to train, val and test, whole families at a time.

    Args:
        scenarios: The scenarios.
        shares: How large the splits should be; they come as near as whole families allow.
        seed: Another seed gives another split that is as balanced.

    Returns:
        The scenarios by split, in their given order. Outcomes and tags are spread evenly, and
        no split is empty.

    Raises:
        UsageError: There are fewer families than splits.
    """
    shares = shares or Shares()
    targets: Mapping[str, float] = shares.model_dump()
    families = _families(scenarios, len(targets))
    if len(families) < len(targets):
        raise UsageError(
            f"{counted(len(families), 'family', 'families')} cannot be split into "
            f"{', '.join(targets)}: a family stays in one split. Add scenarios of other families; "
            f"{len(targets)} are the least, and an interval over families needs some twenty."
        )
    homes = deal(families, targets, seed)
    return {
        split: tuple(one for one in scenarios if homes[one.family] == split) for split in targets
    }


def _families(scenarios: Sequence[Scenario], splits: int) -> dict[str, Counter[str]]:
    """Return how often each label occurs in each family.

    A label of fewer families than there are splits cannot be spread and is left out, or all
    such families would go where it is lacking most: to the largest split.
    """
    families: dict[str, Counter[str]] = {}
    for one in scenarios:
        labels = [EVERY, f"outcome: {one.outcome}", *(f"tag: {tag}" for tag in one.tags)]
        families.setdefault(one.family, Counter()).update(set(labels))
    having = Counter(label for labels in families.values() for label in labels)
    return {
        name: Counter({label: n for label, n in labels.items() if having[label] >= splits})
        for name, labels in families.items()
    }


def deal(
    families: Mapping[str, Counter[str]], targets: Mapping[str, float], seed: int
) -> dict[str, str]:
    """Return the split of each family, its labels spread evenly; none is empty if they suffice.

    Args:
        families: How often each label occurs in each; `every scenario` stands for sizes.
        targets: The share of each split.
        seed: Another seed gives another split.
    """
    waiting = sorted(families)
    Random(f"split/{seed}").shuffle(waiting)
    totals = sum(families.values(), start=Counter[str]())
    lacking = {
        split: {label: share * count for label, count in totals.items()}
        for split, share in targets.items()
    }
    homes: dict[str, str] = {}
    while waiting:
        label = _rarest([families[name] for name in waiting])
        family = next(name for name in waiting if label in families[name])
        empty = [split for split in targets if split not in homes.values()]
        # The last families go where there is none yet.
        open_splits = empty if len(waiting) <= len(empty) else list(targets)
        home = max(open_splits, key=lambda split: (lacking[split][label], lacking[split][EVERY]))
        homes[family] = home
        waiting.remove(family)
        for name, count in families[family].items():
            lacking[home][name] -= count
    return homes


def _rarest(families: Sequence[Counter[str]]) -> str:
    """Return the label that the fewest families have; of several the first by name."""
    having = Counter(label for family in families for label in family)
    return min(having, key=lambda label: (having[label], label))
