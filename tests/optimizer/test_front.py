from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cotune.optimizer.candidate import Status
from cotune.optimizer.front import (
    dominates,
    example_front,
    examples_won,
    objective_front,
    pareto_front,
)

from .tasks import candidate, rollouts

_VALUE = st.integers(0, 3).map(float)
_POINTS = st.lists(st.fixed_dictionaries({"a": _VALUE, "b": _VALUE, "c": _VALUE}), max_size=12)
_PARTIAL = st.lists(st.dictionaries(st.sampled_from("abc"), _VALUE), max_size=8)


@given(_POINTS | _PARTIAL)
def test_the_front_is_what_nothing_dominates(points: list[dict[str, float]]) -> None:
    front = pareto_front(points)
    for index, point in enumerate(points):
        dominated = any(dominates(other, point) for other in points)
        assert dominated == (index not in front)


@given(_POINTS)
def test_every_other_point_is_dominated_by_one_on_the_front(
    points: list[dict[str, float]],
) -> None:
    front = pareto_front(points)
    assert bool(front) == bool(points)
    for index, point in enumerate(points):
        if index not in front:
            assert any(dominates(points[member], point) for member in front)


@given(_POINTS)
def test_the_best_of_every_key_is_reached_on_the_front(points: list[dict[str, float]]) -> None:
    front = [points[index] for index in pareto_front(points)]
    for key in "abc" if points else "":
        assert max(one[key] for one in front) == max(one[key] for one in points)


@given(_PARTIAL)
def test_nothing_dominates_itself_or_what_dominates_it(points: list[dict[str, float]]) -> None:
    for one in points:
        assert not dominates(one, one)
        assert not any(dominates(one, other) and dominates(other, one) for other in points)


def test_nothing_is_said_of_points_without_a_shared_key() -> None:
    assert not dominates({"a": 1.0}, {"b": 0.0})
    assert pareto_front([{"a": 1.0}, {"b": 0.0}, {}]) == [0, 1, 2]


def test_fronts_of_candidates() -> None:
    seed = candidate(0, "short", rollouts(1.0, 0.0, 0.0), Status.SEED)
    better = candidate(1, "a longer text", rollouts(0.0, 1.0, 1.0), Status.ACCEPTED)
    worse = candidate(4, "a text longer yet", rollouts(0.0, 1.0, None), Status.ACCEPTED)
    every = [seed, better, worse]
    assert examples_won(every) == {0: 1, 1: 2, 4: 1}
    assert example_front(every) == [0, 1, 4], "what a fault hit is not compared"
    assert objective_front(every) == [0], "without objectives only brevity counts"
