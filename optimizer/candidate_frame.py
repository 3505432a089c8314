"""Candidates as a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from ..agents.prompts import PromptBundle
from .candidate import Status

if TYPE_CHECKING:
    from pandas import DataFrame


class Considered(Protocol):
    """What is known of a candidate, in a result or in a record of it; see `Candidate`."""

    @property
    def number(self) -> int:
        """Order of appearance."""
        ...

    @property
    def parent(self) -> int | None:
        """From which it was written."""
        ...

    @property
    def status(self) -> Status:
        """What became of it."""
        ...

    @property
    def reason(self) -> str:
        """Why."""
        ...

    @property
    def bundle(self) -> PromptBundle:
        """The prompts."""
        ...

    @property
    def before(self) -> float | None:
        """The parent's mean on the minibatch."""
        ...

    @property
    def after(self) -> float | None:
        """Its own mean there."""
        ...

    @property
    def val_score(self) -> float | None:
        """Mean score on val."""
        ...

    @property
    def objectives(self) -> Mapping[str, float]:
        """Mean of each objective on val."""
        ...


def candidate_frame(candidates: Iterable[Considered], winner: int) -> DataFrame:
    """Return a row for each candidate, indexed by number, with a column for each objective.

    Args:
        candidates: In order of appearance, the seed first.
        winner: Number of the one that was chosen.
    """
    from pandas import DataFrame  # noqa: PLC0415 - half a second that only notebooks need

    rows = [
        {
            "number": one.number,
            "parent": one.parent,
            "status": str(one.status),
            "winner": one.number == winner,
            "before": one.before,
            "after": one.after,
            "val": one.val_score,
            **dict(one.objectives),
            "length": one.bundle.length,
            "reason": one.reason,
        }
        for one in candidates
    ]
    return DataFrame(rows).set_index("number").astype({"parent": "Int64"})
