"""What the test says beyond its score: each criterion, and how many pairs went which way."""

from __future__ import annotations

from collections.abc import Sequence

from ..optimizer.held_out import Comparison
from ..optimizer.settings import HeldOutTest
from ..optimizer.side_by_side import CRITERION, compare_rulings
from ..rubrics.ruling import Ruling
from .record_parts import Data


class PairedDetail(Data):
    """The pairs of the test in detail.

    Attributes:
        better: Pairs in which the winner scored higher.
        worse: Pairs in which the seed did.
        same: Pairs without a difference.
        criteria: Comparison per criterion, by id, of those that were decided on both sides of a
            pair. p values are corrected for the number of domains, criteria and critical failures
            together.
    """

    better: int
    worse: int
    same: int
    criteria: dict[str, Comparison]


def paired_detail(
    before: Sequence[Ruling], after: Sequence[Ruling], settings: HeldOutTest, seed: int
) -> PairedDetail | None:
    """Compare the rulings on both sides of a test; None when there is no pair.

    Args:
        before: On what the seed played.
        after: On what the winner played.
        settings: Of the intervals.
        seed: Of their resampling.
    """
    compared = compare_rulings(before, after, settings, seed)
    if compared is None:
        return None
    changes = compared.changes
    return PairedDetail(
        better=sum(change > 0 for change in changes),
        worse=sum(change < 0 for change in changes),
        same=sum(change == 0 for change in changes),
        criteria=compared.parts(CRITERION),
    )
