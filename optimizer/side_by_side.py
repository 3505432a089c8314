"""Two sides held against each other, pair by pair, on what both were scored on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..rubrics.ruling import Ruling
from .held_out import Comparer, Comparison, HeldOut, held_out_of
from .rollout import Rollout
from .settings import HeldOutTest

DOMAIN, CRITERION = "domain", "criterion"
_REPEATED = ("repeat", "trial")
_MET = 1.0

Key = tuple[str, str, int]
"""A scenario, its repetition, and how often both were there before."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair in which a criterion is met on one side only.

    Attributes:
        scenario: Which scenario, or example.
        before: What the first side was found to be.
        after: What the second side was found to be.
        gained: Criteria that only the second side meets.
        lost: Criteria that only the first side meets.
    """

    scenario: str
    before: Ruling
    after: Ruling
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def change(self) -> float:
        """Objective after minus objective before, in [-1, 1]."""
        return (self.after.objective or 0.0) - (self.before.objective or 0.0)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The comparison of two sides.

    Attributes:
        held_out: The comparison, the first side as the seed and the second as the winner; names
            of objectives begin with `domain` or `criterion`.
        changes: Of each pair that was scored, objective after minus objective before.
        flips: Pairs that differ in a criterion, the largest change first.
        alone: How many conversations of each side the other has no partner for.
        judged_alike: Whether the same judge with the same prompts decided both.
    """

    held_out: HeldOut
    changes: tuple[float, ...]
    flips: tuple[Flip, ...]
    alone: tuple[int, int]
    judged_alike: bool

    def parts(self, kind: str) -> dict[str, Comparison]:
        """Return the comparisons of a kind, `DOMAIN` or `CRITERION`, by id."""
        prefix = f"{kind} "
        return {
            name.removeprefix(prefix): each
            for name, each in self.held_out.objectives.items()
            if name.startswith(prefix)
        }


def compare_rulings(
    before: Iterable[Ruling], after: Iterable[Ruling], settings: HeldOutTest, seed: int = 0
) -> SideBySide | None:
    """Pair rulings on the same scenario and repetition, and compare them.

    Args:
        before: The first side.
        after: The second side, by the same rubric.
        settings: Of the intervals.
        seed: Of their resampling.

    Returns:
        The comparison, or None when they have nothing scored in common.
    """
    one, other = _by_key(before), _by_key(after)
    common = [key for key in one if key in other]
    pairs = [(one[key], other[key]) for key in common]
    families = {each.scenario: str(each.label.get("family", each.scenario)) for each, _ in pairs}
    comparer = Comparer(families, settings, seed)
    firsts, seconds = ([_rollout(pair[side]) for pair in pairs] for side in (0, 1))
    held_out = held_out_of(firsts, seconds, comparer)
    if held_out is None:
        return None
    return SideBySide(
        held_out=held_out,
        changes=tuple(
            other.objective - one.objective
            for one, other in pairs
            if one.objective is not None and other.objective is not None
        ),
        flips=tuple(sorted(_flips(pairs), key=lambda flip: (-abs(flip.change), flip.scenario))),
        alone=(len(one) - len(common), len(other) - len(common)),
        judged_alike=all(a.by == b.by for a, b in pairs if a.counts and b.counts),
    )


def _by_key(rulings: Iterable[Ruling]) -> dict[Key, Ruling]:
    """Return rulings by what pairs them; those that do not say which repetition are counted."""
    unnumbered: Counter[str] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    found: dict[Key, Ruling] = {}
    for ruling in rulings:
        scenario, label = ruling.scenario, ruling.label
        known = [str(label[name]) for name in _REPEATED if name in label]
        repetition = known[0] if known else str(unnumbered[scenario])
        found[scenario, repetition, seen[scenario, repetition]] = ruling
        seen[scenario, repetition] += 1
        unnumbered[scenario] += not known
    return found


def _rollout(ruling: Ruling) -> Rollout:
    """Return what the statistics need to know of a ruling."""
    reached = ruling.score if ruling.counts else None
    if reached is None:
        return Rollout(ruling.scenario, ruling.objective)
    domains = {f"{DOMAIN} {name}": value for name, value in reached.domains.items()}
    criteria = {f"{CRITERION} {name}": value for name, value in _values(ruling).items()}
    return Rollout(
        ruling.scenario,
        ruling.objective,
        objectives={**domains, **criteria},
        critical_failures=reached.critical_failures,
    )


def _values(ruling: Ruling) -> Mapping[str, float]:
    if ruling.score is None:
        return {}
    reached = ruling.score.criteria.items()
    return {name: each.value for name, each in reached if each.value is not None}


def _flips(pairs: Sequence[tuple[Ruling, Ruling]]) -> Iterator[Flip]:
    for before, after in pairs:
        if not (before.counts and after.counts):
            continue
        one, other = _values(before), _values(after)
        both = [name for name in one if name in other]
        gained = tuple(name for name in both if one[name] < _MET <= other[name])
        lost = tuple(name for name in both if other[name] < _MET <= one[name])
        broke = before.standing is not after.standing
        if gained or lost or broke:
            yield Flip(before.scenario, before, after, gained, lost)
