"""Racing: a child and its parent are compared on more and more examples while it is undecided.

The idea is that of racing algorithms (Maron and Moore 1994, "Hoeffding races"; Birattari et al.
2002, F-Race): what is clear early is decided early. Here there are two in the race, compared in
pairs, and at each look

* a child that is not ahead is dropped: it is cheap to write another;
* a child that is ahead by more than a one-sided t margin at `confidence` is accepted;
* otherwise more examples are played. When there are no more, the margin is one at 80 %.

The looks are not corrected for their number: a false acceptance costs a val evaluation, not a
wrong result, which fresh repeats and the test guard. Simulated with
the defaults (a minibatch of 12, then 8 more at a time up to 48 pairs), 4,000 races each, on four
kinds of paired differences, in this order: pass or fail, averages of eight parts, gated scores of
which three in four are tied, a minority mended by half a point:

============  ===========================  ===========================  ==============
share of      better on 12 pairs           race at 0.9                  pairs it plays
children
accepted
============  ===========================  ===========================  ==============
pure noise    0.39, 0.46, 0.39, 0.41       0.25, 0.19, 0.26, 0.13       22 to 26
gain of 0.05  0.54, 0.84, 0.55, 0.81       0.46, 0.84, 0.52, 0.80       23 to 26
gain of 0.10  0.64, 0.98, 0.72, 0.94       0.65, 0.99, 0.76, 0.96       16 to 22
gain of 0.20  0.83, 1.00, 0.97, 1.00       0.90, 1.00, 0.97, 1.00       13 to 19
loss of 0.10  0.20, 0.01, 0.11, 0.04       0.05, 0.00, 0.03, 0.00       12 to 17
loss of 0.20  0.06, 0.00, 0.00, 0.00       0.01, 0.00, 0.00, 0.00       12 to 14
============  ===========================  ===========================  ==============

So it finds as many real gains with half of the false acceptances, for up to twice the pairs. What
else was tried: docs/decisions.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..rubrics.statistics import one_sided_margin
from .acceptance import Decision, critical_regressions, decide
from .noise import Noise
from .rollout import Rollout, scored_pairs
from .settings import Search

_AT_THE_END = 0.8
_UNMEASURED = 0.25  # variance of a paired difference of half the scale
_PERHAPS_LUCK = 1  # a critical failure more than the parent's


@dataclass(frozen=True, slots=True)
class Race:
    """The rule of a race.

    Attributes:
        min_gain: Gain that the child must exceed, on the 0 to 1 scale.
        confidence: One-sided level at which a look ends the race in the child's favour.
        noise: Of the scores, where it was measured.
    """

    min_gain: float
    confidence: float
    noise: Noise | None = None

    @classmethod
    def of(cls, settings: Search, noise: Noise | None = None) -> Race:
        """Return the race that the settings ask for."""
        return cls(settings.min_gain, settings.race.confidence, noise)

    def look(
        self, before: Sequence[Rollout], after: Sequence[Rollout], *, exhausted: bool
    ) -> Decision | None:
        """Decide on what was played so far, or return None when more should be played.

        A child is never accepted while a critical criterion fails more often than with its
        parent. One such failure may be luck, so the race goes on; two, or one at the end, reject.

        Args:
            before: The parent's rollouts.
            after: The child's, of the same examples in the same order.
            exhausted: Whether there are no more examples, or none that may be paid for.

        Raises:
            ValueError: The two are not of the same examples in the same order.
        """
        decision = decide(before, after, self.min_gain)
        gains = differences(before, after)
        if decision.accepted:
            return self._if_sure(decision, gains, exhausted=exhausted)
        if exhausted:
            return decision
        comparable = decision.before is not None
        behind = comparable and (decision.gain < self.min_gain or not any(gains))
        return decision if behind or _excess(before, after) > _PERHAPS_LUCK else None

    def _if_sure(
        self, decision: Decision, gains: Sequence[float], *, exhausted: bool
    ) -> Decision | None:
        """Accept what is ahead by more than the margin; without it, reject at the end only."""
        confidence = min(self.confidence, _AT_THE_END) if exhausted else self.confidence
        known = None if self.noise is None else 2 * self.noise.between_repeats
        prior, least = (_UNMEASURED, 0.0) if known is None else (known, known)
        low = decision.gain - one_sided_margin(gains, confidence, prior, least)
        said = f"{decision.reason}, by {low:+.3f} or more with {confidence:.0%} confidence"
        if low > self.min_gain:
            return replace(decision, reason=said)
        unsure = replace(decision, accepted=False, reason=f"not surely {said}")
        return unsure if exhausted else None


def differences(before: Sequence[Rollout], after: Sequence[Rollout]) -> list[float]:
    """Return by how much each example scores more after, where no fault hit either side."""
    return [
        other.score - one.score
        for one, other in scored_pairs(before, after)
        if one.score is not None and other.score is not None
    ]


def _excess(before: Sequence[Rollout], after: Sequence[Rollout]) -> int:
    """Return how many critical failures more the child has, over the criteria it is worse on."""
    worse = critical_regressions(before, after)
    return sum(with_child - with_parent for with_parent, with_child in worse.values())
