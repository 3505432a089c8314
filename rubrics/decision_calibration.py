"""Decision calibration: from a judge's probability of a pass to a value of the criterion's scale.

A judge that weighs words leans to one of them, by an amount that depends on the text; and how sure
it is need not be how often it is right. On labels it was not tuned on, each criterion gets a
threshold, or one for each step of a scale of tiers, and a scaling of its probabilities. What does
not hold on items that were left out of the fit is not taken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from .agreement_coefficients import balanced_accuracy
from .probability_scaling import Platt, Scaling, fit_scaling
from .statistics import Floats
from .verdict import Verdict

_FOLDS = 20
_ALIKE = 1e-9
_EVEN = 0.5
_PASS_FAIL = (0.0, 1.0)


class Decision(BaseModel):
    """How a probability becomes a value.

    Attributes:
        cuts: Ascending, one fewer than the scale has values: from the first on it is the scale's
            second value, and so on. One cut is the threshold of pass and fail.
        scaling: Of the probabilities that are reported; it changes no value.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cuts: tuple[float, ...] = Field(min_length=1)
    scaling: Annotated[Scaling, Field(discriminator="kind")] | None = None

    @classmethod
    def even(cls, values: Sequence[float]) -> Decision:
        """Return what is decided before anything is fitted: steps of the same size."""
        steps = len(values)
        return cls(cuts=tuple(step / steps for step in range(1, steps)))

    def value(self, probability: float, values: Sequence[float]) -> float:
        """Return the value of a scale (ascending) that a probability of the best comes to."""
        return values[bisect_right(self.cuts, probability)]

    def decide(self, verdict: Verdict, values: Sequence[float]) -> Verdict:
        """Return a verdict decided anew; one without a probability stays as it is."""
        probability = verdict.pass_probability
        if probability is None or verdict.value is None:
            return verdict
        value = self.value(probability, values)
        meant = probability if self.scaling is None else _scaled(self.scaling, probability)
        cuts = ", ".join(f"{cut:.3g}" for cut in self.cuts)
        said = f"Probability {probability:.3f}, thresholds {cuts}: {value:g}."
        return replace(verdict, value=value, rationale=said, pass_probability=meant)


@dataclass(frozen=True, slots=True)
class Weighed:
    """An item with the probability that a judge gives and the value that people give.

    Attributes:
        conversation: The conversation it belongs to; it is left out as a whole.
        probability: Of a pass, or of the best tier.
        gold: A value of the scale.
    """

    conversation: str
    probability: float
    gold: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """A decision, and what it is worth on items that were left out of the fit.

    Attributes:
        decision: With what was taken.
        before: Balanced accuracy with even steps; None when it is not defined.
        after: That of fitted cuts, on items left out.
        took_cuts: Whether the fitted cuts were taken.
    """

    decision: Decision
    before: float | None
    after: float | None
    took_cuts: bool


def fit_decision(items: Sequence[Weighed], values: Sequence[float]) -> Fitted:
    """Fit a criterion's decision.

    Args:
        items: Of val; never of the test.
        values: The scale, ascending.
    """
    even = Decision.even(values)
    if len({item.gold for item in items}) < 2:
        return Fitted(even, None, None, took_cuts=False)
    before = _balanced(items, [even] * len(items), values)
    left_out = list(_left_out(items, lambda others: Decision(cuts=_cuts(others, values))))
    after = _balanced(items, left_out, values)
    took = after > before + _ALIKE
    cuts = _cuts(items, values) if took else even.cuts
    scaling = _scaling(items) if tuple(values) == _PASS_FAIL else None
    return Fitted(Decision(cuts=cuts, scaling=scaling), before, after, took)


def best_cut(probabilities: Floats, passes: Floats, fallback: float) -> float:
    """Return the threshold with the largest Youden's J; of several that of the widest gap.

    Args:
        probabilities: Of a pass.
        passes: 1 where people say that it passes, else 0; both occur.
        fallback: The threshold where no other is better.
    """
    known = np.unique(probabilities)
    cuts = np.array([fallback, *(known[1:] + known[:-1]) / 2.0])
    gaps = np.array([np.inf, *np.diff(known)])  # no reason to move is a reason to stay
    above = probabilities[None, :] >= cuts[:, None]
    true = (above * passes).sum(1) / passes.sum()
    false = (above * (1.0 - passes)).sum(1) / (1.0 - passes).sum()
    informed = true - false
    best = informed >= informed.max() - _ALIKE
    return float(cuts[int(np.argmax(np.where(best, gaps, -1.0)))])


def _cuts(items: Sequence[Weighed], values: Sequence[float]) -> tuple[float, ...]:
    """Return a cut for each step of the scale, each from all items, and none below another."""
    probabilities = np.array([item.probability for item in items])
    gold = np.array([item.gold for item in items])
    cuts: list[float] = []
    for step, (value, fallback) in enumerate(
        zip(values[1:], Decision.even(values).cuts, strict=True)
    ):
        passes = (gold >= value).astype(np.float64)
        if passes.all():
            cut = 0.0
        elif not passes.any():
            cut = 1.0
        else:
            cut = best_cut(probabilities, passes, fallback)
        cuts.append(max(cut, cuts[step - 1]) if step else cut)
    return tuple(cuts)


def _left_out(
    items: Sequence[Weighed], fit: Callable[[Sequence[Weighed]], Decision]
) -> Iterator[Decision]:
    """Yield for each item what is fitted without its conversation, or its part of them."""
    names = sorted({item.conversation for item in items})
    fold = {name: number % _FOLDS for number, name in enumerate(names)}
    fits: dict[int, Decision] = {}
    for item in items:
        part = fold[item.conversation]
        if part not in fits:
            fits[part] = fit([each for each in items if fold[each.conversation] != part])
        yield fits[part]


def _scaling(items: Sequence[Weighed]) -> Scaling | None:
    """Return a scaling whose probabilities, on items left out, lie nearer to what people say."""
    passes = np.array([item.gold for item in items])
    said = np.array([item.probability for item in items])
    scaled = np.array(
        [
            _scaled(decision.scaling or Platt(slope=1.0, intercept=0.0), item.probability)
            for item, decision in zip(items, _left_out(items, _only_scaled), strict=True)
        ]
    )
    if np.mean((scaled - passes) ** 2) < np.mean((said - passes) ** 2):
        return fit_scaling(said, passes)
    return None


def _only_scaled(items: Sequence[Weighed]) -> Decision:
    passes = np.array([item.gold for item in items])
    if len(set(passes.tolist())) < 2:
        return Decision(cuts=(_EVEN,))
    said = np.array([item.probability for item in items])
    return Decision(cuts=(_EVEN,), scaling=fit_scaling(said, passes))


def _scaled(scaling: Scaling, probability: float) -> float:
    return float(scaling(np.array([probability]))[0])


def _balanced(
    items: Sequence[Weighed], decisions: Sequence[Decision], values: Sequence[float]
) -> float:
    place = {value: index for index, value in enumerate(values)}
    counts = np.zeros((len(values), len(values)))
    for item, decision in zip(items, decisions, strict=True):
        counts[place[item.gold], place[decision.value(item.probability, values)]] += 1.0
    return float(balanced_accuracy(counts))
