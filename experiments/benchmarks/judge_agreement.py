"""Agreement: a judge's verdicts beside what is known to be right, and the figures of it."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import DegenerateDataWarning, bootstrap
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import cohen_kappa_score, roc_auc_score, roc_curve

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """One verdict of a judge.

    Attributes:
        gold: Whether the criterion is kept, as the world's state shows.
        said: Whether the judge passes it; None when it was inconclusive.
        probability: That it passes, in [0, 1], of a judge that gives one.
    """

    gold: bool
    said: bool | None
    probability: float | None

    @property
    def line(self) -> str:
        """The answer in words."""
        words = {True: "pass", False: "fail", None: "open"}
        sure = "" if self.probability is None else f" ({self.probability:.3f})"
        return f"{words[self.said]}{sure}, is {words[self.gold]}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What answers come to, those that are inconclusive left out.

    Attributes:
        n: Answers that are conclusive.
        share: Share of them that are right.
        kappa: Cohen's kappa, in [-1, 1]; 0 is what guessing comes to.
        interval: 95 % interval of kappa, by the percentile bootstrap over conversations.
        passed: Share that the judge passes.
        inconclusive: How many answers were left out.
    """

    n: int
    share: float
    kappa: float
    interval: tuple[float, float]
    passed: float
    inconclusive: int


def agreement(answers: Sequence[Answer]) -> Agreement:
    """Return how well answers agree with what is right; one at least must be conclusive."""
    kept = [each for each in answers if each.said is not None]
    gold = np.array([each.gold for each in kept])
    said = np.array([bool(each.said) for each in kept])
    return Agreement(
        len(kept),
        float(np.mean(gold == said)),
        _kappa(gold, said),
        _interval(gold, said),
        float(np.mean(said)),
        len(answers) - len(kept),
    )


def auc(answers: Sequence[Answer]) -> float | None:
    """Return how often a kept criterion has the higher probability than one that is not.

    Returns:
        In [0, 1], 0.5 for guessing; None of a judge that gives no probabilities.
    """
    if any(each.probability is None for each in answers):
        return None
    return float(roc_auc_score(*_probabilities(answers)))


def refitted(answers: Sequence[Answer]) -> tuple[list[Answer], tuple[float, float]]:
    """Decide each half of the answers by the threshold that was best on the other half.

    Args:
        answers: All with probabilities.

    Returns:
        The answers so decided, and the two thresholds.
    """
    shuffled = list(answers)
    random.Random("halves").shuffle(shuffled)
    shuffled.sort(key=lambda each: each.gold)  # as many of each kind in both halves
    halves = shuffled[::2], shuffled[1::2]
    thresholds = _best_threshold(halves[1]), _best_threshold(halves[0])
    decided = [
        replace(each, said=(each.probability or 0.0) >= threshold)
        for half, threshold in zip(halves, thresholds, strict=True)
        for each in half
    ]
    return decided, thresholds


def _best_threshold(answers: Sequence[Answer]) -> float:
    """Return the probability that tells most of what is kept from what is not (Youden's J)."""
    false, true, thresholds = roc_curve(*_probabilities(answers))
    best = 1 + int(np.argmax((true - false)[1:]))  # the first is beyond all probabilities
    return float(thresholds[best])


def _probabilities(answers: Sequence[Answer]) -> tuple[list[bool], list[float]]:
    return [each.gold for each in answers], [each.probability or 0.0 for each in answers]


def _kappa(gold: np.ndarray, said: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # all alike: as good as guessing
        kappa = cohen_kappa_score(gold, said, labels=[False, True], replace_undefined_by=0.0)
    return float(kappa)


def _interval(gold: np.ndarray, said: np.ndarray) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)  # all alike: no width
        found = bootstrap(
            (gold, said),
            _kappa,
            paired=True,
            vectorized=False,
            method="percentile",
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(0),
        ).confidence_interval
    return float(found.low), float(found.high)
