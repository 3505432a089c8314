"""The Pareto front: candidates that no other beats everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .candidate import Candidate


def dominates(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether `one` is at least as good on every shared key and better on one.

    Higher is better. Keys that only one of the two has are not compared; with no shared key
    nothing dominates.
    """
    shared = one.keys() & other.keys()
    return all(one[key] >= other[key] for key in shared) and any(
        one[key] > other[key] for key in shared
    )


def pareto_front(points: Sequence[Mapping[str, float]]) -> list[int]:
    """Return the indices of the points that no other point dominates, in order."""
    return [
        index
        for index, point in enumerate(points)
        if not any(dominates(other, point) for other in points)
    ]


def examples_won(candidates: Sequence[Candidate]) -> dict[int, int]:
    """Return, per candidate number, on how many val examples no other scores higher."""
    best: dict[str, float] = {}
    scores = {
        candidate.number: {
            rollout.example: rollout.score for rollout in candidate.val if rollout.score is not None
        }
        for candidate in candidates
    }
    for found in scores.values():
        for example, value in found.items():
            best[example] = max(best.get(example, value), value)
    return {
        number: sum(value >= best[example] for example, value in found.items())
        for number, found in scores.items()
    }


def example_front(candidates: Sequence[Candidate]) -> list[int]:
    """Return the numbers on the front over val examples, those that a fault hit left out."""
    points = [
        {rollout.example: rollout.score for rollout in candidate.val if rollout.score is not None}
        for candidate in candidates
    ]
    return [candidates[index].number for index in pareto_front(points)]


def objective_front(candidates: Sequence[Candidate]) -> list[int]:
    """Return the numbers on the front over the objectives and brevity of the prompts."""
    points = [
        {**candidate.objectives, "brevity": -float(candidate.bundle.length)}
        for candidate in candidates
    ]
    return [candidates[index].number for index in pareto_front(points)]
