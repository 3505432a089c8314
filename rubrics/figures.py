"""Figures: the numbers that rulings come to, by the names by which thresholds ask for them."""

from __future__ import annotations

from dataclasses import dataclass

from .ruling import Standing
from .tally import Tally

CONVERSATIONS = "conversations"
INCONCLUSIVE = "inconclusive"
UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that can be held against a threshold.

    Attributes:
        value: The number; None when nothing is known.
        n: Of how many conversations it is the mean, or a share.
        what: What it is, in words.
        undecided: Share of what it should rest on, in [0, 1], that is inconclusive.
    """

    value: float | None
    n: int
    what: str
    undecided: float = 0.0


def figures(tally: Tally) -> dict[str, Figure]:
    """Return all figures by name: those of the whole, `domain.ID` and `criterion.ID`."""
    domains = {
        f"domain.{name}": Figure(each.mean, each.n, f"the mean of the domain '{name}'")
        for name, each in tally.domains.items()
    }
    criteria = {
        f"criterion.{name}": Figure(
            each.values.mean if each.values.n else None,
            each.values.n,
            f"the mean of the criterion '{name}'",
            _share(each.inconclusive, each.inconclusive + each.values.n) or 0.0,
        )
        for name, each in tally.criteria.items()
    }
    return {**_of_the_whole(tally), **domains, **criteria}


def _of_the_whole(tally: Tally) -> dict[str, Figure]:
    counted, standings = tally.counted, tally.standings
    read = counted + standings[Standing.UNDECIDED]
    decided = tally.passed[True] + tally.passed[False]
    critical = tally.passed[False] - standings[Standing.FAILED]
    open_ = sum(each.inconclusive for each in tally.criteria.values())
    apply = open_ + sum(each.values.n for each in tally.criteria.values())
    scored = tally.score.n
    return {
        CONVERSATIONS: Figure(counted, counted, "the number of conversations with a score"),
        "overall": Figure(tally.score.mean if scored else None, scored, "the mean score"),
        "objective": Figure(tally.objective.mean if scored else None, scored, "the mean objective"),
        "passed": Figure(
            _share(tally.passed[True], decided),
            decided,
            "the share that passed",
            _share(tally.passed[None], counted) or 0.0,
        ),
        INCONCLUSIVE: Figure(
            _share(open_, apply) or 0.0, read, "the share of criteria left inconclusive"
        ),
        UNDECIDED: Figure(
            _share(read - counted, read) or 0.0, read, "the share that could not be decided"
        ),
        "critical_failures": Figure(
            _share(critical, decided), decided, "the share with a critical failure"
        ),
        "failed": Figure(
            _share(standings[Standing.FAILED], counted),
            counted,
            "the share that the assistant broke off",
        ),
        "excluded": Figure(
            _share(standings[Standing.EXCLUDED], standings.total()),
            standings.total(),
            "the share excluded for faults that are not the assistant's",
        ),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
