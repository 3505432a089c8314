from __future__ import annotations

import random
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.optimizer.rollout import Rollout
from cotune.optimizer.val_policy import dominated, rungs

from .tasks import rollouts


@pytest.mark.parametrize(
    ("n", "expected"),
    [(32, [8, 16, 32]), (50, [8, 16, 50]), (16, [8, 16]), (15, [15]), (3, [3])],
)
def test_rungs_double_and_end_with_the_whole(n: int, expected: list[int]) -> None:
    assert rungs(n) == expected


@given(st.integers(1, 5000))
def test_no_last_step_is_smaller_than_all_before(n: int) -> None:
    found = rungs(n)
    assert found[-1] == n
    assert all(after >= 2 * before for before, after in pairwise(found))


def test_a_child_that_is_clearly_worse_everywhere_is_given_up_with_its_numbers() -> None:
    child, good = rollouts(*[0.25] * 8), rollouts(*[0.75] * 8)
    reason = dominated(child, [rollouts(*[0.3] * 8), good])
    assert reason == (
        "dominated after 8 val examples: 0.250, another candidate 0.750 on the same, ahead by "
        "0.356 or more with 97.5% confidence; it wins no example alone"
    )


def test_a_child_that_wins_an_example_nobody_else_wins_is_kept() -> None:
    child, good = rollouts(*[0.0] * 7, 1.0), rollouts(*[1.0] * 7, 0.9)
    assert dominated(child, [good]) is None
    assert dominated(child, [good, rollouts(*[0.0] * 7, 1.0)]) is not None, "another one wins it"
    assert dominated(rollouts(*[0.0] * 7, 0.1), [rollouts(*[1.0] * 7, None)]) is None


def test_small_differences_and_what_has_no_rival_are_paid_for() -> None:
    child = rollouts(*[0.5] * 8)
    assert dominated(child, [rollouts(*[0.5] * 8)]) is None
    assert dominated(child, [rollouts(*[0.6] * 7, 0.5)]) is None
    assert dominated(child, []) is None
    assert dominated(rollouts(*[None] * 8), [rollouts(*[1.0] * 8)]) is None


def _share_dropped(loss: float, rivals: int, runs: int = 150) -> float:
    """Return how often a child is given up on 16 pass/fail examples, worse by so much or equal."""
    rng = random.Random(f"{loss} {rivals}")

    def played(chances: list[float]) -> list[Rollout]:
        return rollouts(*(float(rng.random() < chance) for chance in chances))

    def dropped() -> bool:
        chances = [rng.betavariate(3, 1.5) for _ in range(16)]
        others = [played(chances) for _ in range(rivals)]
        child = played([max(0.0, chance - loss) for chance in chances])
        return any(dominated(child[:n], [one[:n] for one in others]) for n in rungs(16))

    return fmean(dropped() for _ in range(runs))


@pytest.mark.parametrize("rivals", [1, 4, 8])
def test_as_good_a_child_is_hardly_ever_given_up(rivals: int) -> None:
    assert _share_dropped(0.0, rivals) < 0.12


@pytest.mark.parametrize("rivals", [1, 4])
def test_a_much_worse_child_mostly_is(rivals: int) -> None:
    assert _share_dropped(0.5, rivals) > 0.6
