"""Aggregation: from the verdicts about one criterion to its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from .criterion import Aggregate, Criterion
from .verdict import Status, Verdict


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """What the verdicts about one criterion amount to.

    Attributes:
        status: Scored when a verdict has a value, else inconclusive when one is, else not
            applicable.
        value: In [0, 1]: the only value, or the turns' minimum or mean; None unless scored.
        scored: Number of verdicts with a value.
        inconclusive: Number of verdicts about which nothing reliable could be said.
        not_applicable: Number of verdicts that do not apply.
    """

    status: Status
    value: float | None
    scored: int
    inconclusive: int
    not_applicable: int

    @property
    def open_share(self) -> float:
        """Share of the applicable verdicts, in [0, 1], that are inconclusive."""
        applicable = self.scored + self.inconclusive
        return self.inconclusive / applicable if applicable else 0.0


def aggregate(criterion: Criterion, verdicts: Sequence[Verdict]) -> CriterionScore:
    """Aggregate the verdicts about a criterion; their order does not matter.

    Not applicable and inconclusive turns are left out of minimum and mean, and counted.

    Args:
        criterion: The criterion.
        verdicts: Exactly one; of a criterion scored turn by turn, one for every turn (at least
            one), or one without a value and a turn when nothing can be said about any turn.

    Raises:
        ValueError: There are too few or too many verdicts, or a turn has two or none.
    """
    _require_fitting(criterion, verdicts)
    values = sorted(verdict.value for verdict in verdicts if verdict.value is not None)
    statuses = [verdict.status for verdict in verdicts]
    return CriterionScore(
        status=_status(statuses),
        value=_value(criterion, values) if values else None,
        scored=len(values),
        inconclusive=statuses.count(Status.INCONCLUSIVE),
        not_applicable=statuses.count(Status.NOT_APPLICABLE),
    )


def _status(statuses: Sequence[Status]) -> Status:
    order = (Status.SCORED, Status.INCONCLUSIVE, Status.NOT_APPLICABLE)
    return next(status for status in order if status in statuses)


def _value(criterion: Criterion, values: Sequence[float]) -> float:
    if criterion.aggregate is Aggregate.MEAN:
        # Rounding may push a mean of equal values out of their range.
        return min(max(fsum(values) / len(values), values[0]), values[-1])
    return values[0]


def _require_fitting(criterion: Criterion, verdicts: Sequence[Verdict]) -> None:
    if not criterion.per_turn:
        if len(verdicts) != 1:
            raise ValueError(
                f"one verdict per criterion is needed; '{criterion.id}' has {len(verdicts)}"
            )
        return
    turns = [verdict.turn for verdict in verdicts]
    if len(verdicts) == 1 and verdicts[0].value is None:
        return
    if not turns or None in turns or len(set(turns)) != len(turns):
        raise ValueError(
            f"one verdict per turn is needed for '{criterion.id}'; found the turns {turns}"
        )
