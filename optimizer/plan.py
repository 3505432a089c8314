"""The plan: what the budget buys, said before it is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..agents.errors import UsageError
from .example import Splits
from .noise import Noise, spread
from .settings import EngineSettings, Search
from .val_policy import searched_val


@dataclass(frozen=True, slots=True)
class Plan:
    """Rollouts by step; each is counted in the step that plays it first.

    Attributes:
        total: The limit.
        seed: Scoring the seed on val, beside what the noise needs of it.
        per_candidate: One proposal at most: parent and child on the minibatch, or for as long as
            a race may last, and the child on the search's part of val. What helped of a child is
            a proposal of its own.
        candidates: Proposals that fit, at least: rejected ones and those decided early cost less.
        selection: Running the seed and the finalists again on val, beside what the noise needs.
        test: Seed and winner on test.
        noise: Running the seed on some val examples again and again, before the search.
        detectable: Smallest true difference on test that would be seen four times in five; see
            `Noise.detectable`. None where the noise was not measured.
    """

    total: int
    seed: int
    per_candidate: int
    candidates: int
    selection: int
    test: int
    noise: int = 0
    detectable: float | None = None

    @property
    def reserved(self) -> int:
        """Rollouts held back for selection and test."""
        return self.selection + self.test

    @property
    def search(self) -> int:
        """Rollouts the search may use, the seed's on val included, the noise's not."""
        return self.total - self.reserved - self.noise


def make_plan(settings: EngineSettings, splits: Splits[Any], noise: Noise | None = None) -> Plan:
    """Divide the budget.

    Args:
        settings: The run's.
        splits: The examples.
        noise: Of the scores, once it was measured.

    Raises:
        UsageError: Rollouts are not limited, or the limit does not buy even one candidate.
    """
    val, test, measured = len(splits.val), len(splits.test), _measured(settings, splits)
    searched = searched_val(splits.val, settings.search)
    shared = measured * min(settings.noise.repeats - 1, settings.selection.repeats)
    noisy = measured * settings.noise.repeats
    noised = {example.id for example in spread(splits.val, measured)}
    seed = sum(example.id not in noised for example in searched)
    tested = 2 * test * settings.test.repeats
    selected = (settings.selection.finalists + 1) * val * settings.selection.repeats - shared
    per_candidate = 2 * _compared(settings.search, len(splits.train)) + len(searched)
    total = settings.limits.rollouts
    needed = tested + selected + noisy + seed + per_candidate
    if total is None or total < needed:
        found = "not set" if total is None else f"{total}, which does not buy one candidate"
        first = f"measuring the noise {noisy}, the seed on the rest of val" if noisy else "the seed"
        raise UsageError(
            f"limits.rollouts is {found}: test needs {tested} "
            f"(2 × {test} examples × {settings.test.repeats}), selection {selected} "
            f"(seed and {settings.selection.finalists} finalists × {val} val examples × "
            f"{settings.selection.repeats}{', less what the noise needs' if shared else ''}), "
            f"{first} {seed}, one candidate up to {per_candidate}. "
            f"Allow at least {needed}, or lower selection.finalists."
        )
    candidates = (total - needed) // per_candidate + 1
    seen = None if noise is None else _detectable(noise, settings, splits)
    return Plan(total, seed, per_candidate, candidates, selected, tested, noisy, seen)


def _measured(settings: EngineSettings, splits: Splits[Any]) -> int:
    """Return on how many val examples the noise is measured."""
    return min(settings.noise.examples, len(splits.val))


def _compared(search: Search, train: int) -> int:
    """Return on how many train examples parent and child are compared at most."""
    race = search.race.most if search.acceptance == "race" else 0
    return min(max(search.minibatch, race), train)


def _detectable(noise: Noise, settings: EngineSettings, splits: Splits[Any]) -> float:
    families = len({example.family for example in splits.test})
    test = settings.test
    return noise.detectable(
        len(splits.test), test.repeats, confidence=test.confidence, families=families
    )
