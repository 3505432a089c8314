"""Scaling: from a judge's probabilities to ones that mean what they say.

Platt's (1999): a logistic curve over the log-odds, with his smoothed targets, so that few items
never give a probability of 0 or 1. From 200 items on, isotonic regression, which takes any rising
shape.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, logit

from .statistics import Floats

_ENOUGH_FOR_ANY_SHAPE = 200
_EDGE = 1e-6


class Platt(BaseModel):
    """A logistic curve over the log-odds of a probability."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["platt"] = "platt"
    slope: float
    intercept: float

    def __call__(self, probabilities: Floats) -> Floats:
        """Return scaled probabilities, in (0, 1)."""
        return expit(self.slope * _odds(probabilities) + self.intercept)


class Isotonic(BaseModel):
    """A rising line through points; beside the outer ones it is level.

    Attributes:
        said: Probabilities, ascending.
        meant: What they come to, ascending.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["isotonic"] = "isotonic"
    said: tuple[float, ...] = Field(min_length=1)
    meant: tuple[float, ...] = Field(min_length=1)

    def __call__(self, probabilities: Floats) -> Floats:
        """Return scaled probabilities, in [0, 1]."""
        return np.interp(probabilities, self.said, self.meant)


Scaling = Platt | Isotonic


def fit_scaling(probabilities: Floats, passes: Floats) -> Scaling:
    """Fit a scaling.

    Args:
        probabilities: Of a pass, in [0, 1].
        passes: 1 for what passes by people, 0 for what fails; both must occur.
    """
    if len(probabilities) < _ENOUGH_FOR_ANY_SHAPE:
        return _platt(probabilities, passes)
    order = np.argsort(probabilities, kind="stable")
    rising = np.asarray(isotonic_regression(passes[order]).x)
    said, first = np.unique(probabilities[order], return_index=True)
    meant = np.add.reduceat(rising, first) / np.diff([*first, len(rising)])
    return Isotonic(said=tuple(said.tolist()), meant=tuple(meant.tolist()))


def _platt(probabilities: Floats, passes: Floats) -> Platt:
    odds = _odds(probabilities)
    passed, failed = float(passes.sum()), float(len(passes) - passes.sum())
    targets = np.where(passes > 0.5, (passed + 1) / (passed + 2), 1 / (failed + 2))

    def loss(line: Floats) -> float:
        z = line[0] * odds + line[1]
        return float(np.sum(np.logaddexp(0.0, z) - targets * z))

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), method="BFGS").x
    return Platt(slope=max(0.0, float(slope)), intercept=float(intercept))


def _odds(probabilities: Floats) -> Floats:
    return logit(np.clip(probabilities, _EDGE, 1.0 - _EDGE))
