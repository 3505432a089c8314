"""Dawid and Skene's model: what is true, by annotators each of whom errs in a way of their own.

A. P. Dawid and A. M. Skene (1979), "Maximum Likelihood Estimation of Observer Error-Rates Using
the EM Algorithm", Applied Statistics 28(1). It is written here because the library that has it
brings a machine-learning stack along for it; `tests/rubrics/test_dawid_skene.py` compares.
"""

from __future__ import annotations

import numpy as np

from .statistics import Floats

_STEPS = 2000
_CLOSE_ENOUGH = 1e-8
_TINY = 1e-10


def true_values(votes: Floats) -> Floats:
    """Return how probable each value is of each item, by expectation maximisation.

    It starts from the shares of the votes. Values of which nobody is sure tell little about an
    annotator, so it takes some dozens of items with several annotators each to learn anything.

    Args:
        votes: `(items, annotators, K)`: how often each annotator gave each item each value; zeros
            where somebody did not.

    Returns:
        `(items, K)`: probabilities that sum to 1.
    """
    shares = votes.sum(1)
    probable = shares / shares.sum(-1, keepdims=True)
    for _ in range(_STEPS):
        before = probable
        probable = _items(votes, probable.mean(0), _errors(votes, probable))
        if np.abs(probable - before).max() < _CLOSE_ENOUGH:
            break
    return probable


def _errors(votes: Floats, probable: Floats) -> Floats:
    """Return `(annotators, K true, K said)`: how each annotator answers each true value."""
    said = np.einsum("iak,it->atk", votes, probable)
    return np.clip(said / np.maximum(said.sum(-1, keepdims=True), _TINY), _TINY, None)


def _items(votes: Floats, prior: Floats, errors: Floats) -> Floats:
    weights = np.einsum("iak,atk->it", votes, np.log(errors)) + np.log(np.maximum(prior, _TINY))
    likely = np.exp(weights - weights.max(-1, keepdims=True))
    return likely / likely.sum(-1, keepdims=True)
