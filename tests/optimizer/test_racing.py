"""Races: what is clear is decided early, what is luck is not accepted, and no harm is."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from statistics import fmean

import pytest

from cotune.optimizer.noise import Noise
from cotune.optimizer.racing import Race
from cotune.optimizer.rollout import Rollout
from cotune.optimizer.settings import Race as RaceSettings
from cotune.optimizer.settings import Search

from .tasks import rollouts

RACE = Race(min_gain=0.0, confidence=0.9)
Draw = Callable[[random.Random, float], float]


def _pair(*differences: float) -> tuple[list[Rollout], list[Rollout]]:
    before = rollouts(*((1 - each) / 2 for each in differences))
    return before, rollouts(*((1 + each) / 2 for each in differences))


def _race(differences: Sequence[float], race: Race = RACE) -> tuple[bool, int]:
    """Play a race of a minibatch of 12 and 8 more at a time; return the end and the pairs."""
    played = 12
    while True:
        exhausted = played >= len(differences)
        decision = race.look(*_pair(*differences[:played]), exhausted=exhausted)
        if decision is not None:
            return decision.accepted, min(played, len(differences))
        played += 8


def test_a_clear_gain_is_accepted_at_the_first_look_with_its_numbers() -> None:
    decision = RACE.look(*_pair(*[0.4, 0.2, 0.3, 0.5] * 3), exhausted=False)
    assert decision is not None
    assert decision.accepted
    assert decision.gain == pytest.approx(0.35)
    assert decision.reason == (
        "better (0.325 → 0.675 on 12 examples), by +0.279 or more with 90% confidence"
    )


def test_a_child_that_is_behind_is_dropped_at_the_first_look() -> None:
    decision = RACE.look(*_pair(0.5, *[-0.25] * 3), exhausted=False)
    assert decision is not None
    assert decision.reason == "not better (0.531 → 0.469 on 4 examples)"


def test_a_child_that_changes_nothing_is_dropped_and_a_level_one_is_played_on() -> None:
    nothing = RACE.look(*_pair(*[0.0] * 12), exhausted=False)
    assert nothing is not None
    assert not nothing.accepted
    assert RACE.look(*_pair(0.5, -0.5, *[0.0] * 10), exhausted=False) is None


def test_what_may_be_luck_is_played_on_and_at_the_end_less_must_do() -> None:
    maybe = _pair(0.5, 0.5, -0.5, 0.5, *[0.0] * 8)
    assert RACE.look(*maybe, exhausted=False) is None
    at_the_end = RACE.look(*maybe, exhausted=True)
    assert at_the_end is not None
    assert at_the_end.accepted, "at least 0 with 80 % confidence"
    luck = RACE.look(*_pair(0.5, *[0.0] * 11), exhausted=True)
    assert luck is not None
    assert luck.reason.startswith("not surely better (0.479 → 0.521 on 12 examples), by -0.0")


def test_the_least_gain_moves_both_bounds() -> None:
    strict = Race.of(Search(min_gain=0.3, race=RaceSettings(confidence=0.9)))
    ahead = _pair(*[0.25] * 12)
    assert RACE.look(*ahead, exhausted=False) is not None
    behind = strict.look(*ahead, exhausted=False)
    assert behind is not None
    assert not behind.accepted
    assert strict.look(*_pair(*[0.32] * 12), exhausted=False) is None


def test_measured_noise_makes_a_lucky_streak_less_convincing() -> None:
    streak = _pair(*[0.25] * 6, *[0.0] * 2)
    noisy = Race(0.0, 0.9, Noise(0.5, 0.05, between_repeats=0.2, scenarios=12, repeats=2))
    assert RACE.look(*streak, exhausted=False) is not None
    assert noisy.look(*streak, exhausted=False) is None
    still = Race(0.0, 0.9, Noise(0.5, 0.05, between_repeats=0.0, scenarios=12, repeats=2))
    quick = still.look(*_pair(*[0.01] * 4), exhausted=False)
    assert quick is not None
    assert quick.accepted, "without noise every difference is a real one"


def test_faults_are_waited_out_and_reject_at_the_end() -> None:
    before, after = rollouts(None, None, 0.0, 0.0), rollouts(1.0, 1.0, 1.0, 1.0)
    assert RACE.look(before, after, exhausted=False) is None
    rejected = RACE.look(before, after, exhausted=True)
    assert rejected is not None
    assert "too few to compare" in rejected.reason
    assert RACE.look([], [], exhausted=False) is None
    assert RACE.look([], [], exhausted=True) is not None


# Safety


@pytest.mark.parametrize("exhausted", [False, True])
@pytest.mark.parametrize("failures", [1, 2, 5])
def test_a_critical_regression_is_never_accepted_whatever_the_gain(
    failures: int, exhausted: bool
) -> None:
    before = rollouts(*[0.0] * 12)
    after = rollouts(*[1.0] * 12, critical=dict.fromkeys(range(failures), "no_allergen"))
    decision = RACE.look(before, after, exhausted=exhausted)
    if decision is None:
        assert (failures, exhausted) == (1, False), "one may be luck; more examples tell"
        return
    assert not decision.accepted
    assert "critical criterion no_allergen fails more often" in decision.reason


def test_one_failure_more_in_each_of_two_criteria_is_no_luck() -> None:
    after = rollouts(*[1.0] * 12, critical={0: "no_allergen", 1: "pays_once"})
    assert RACE.look(rollouts(*[0.0] * 12), after, exhausted=False) is not None


def test_a_failure_that_the_parent_has_too_in_the_end_does_no_harm() -> None:
    before = rollouts(*[0.0] * 13, critical={12: "no_allergen"})
    after = rollouts(*[1.0] * 13, critical={0: "no_allergen"})
    assert RACE.look(before[:12], after[:12], exhausted=False) is None
    decision = RACE.look(before, after, exhausted=False)
    assert decision is not None
    assert decision.accepted


# How often it is right; more runs in racing.py


def _pass_or_fail(rng: random.Random, gain: float) -> float:
    chance = rng.betavariate(2, 2) * 0.8
    return (rng.random() < chance + gain) - (rng.random() < chance)


def _gated(rng: random.Random, gain: float) -> float:
    drawn, up = rng.random(), 0.125 + gain / 1.6
    return 0.8 if drawn < up else -0.8 if drawn < 0.25 else 0.0


def _mended(rng: random.Random, gain: float) -> float:
    if rng.random() < abs(gain) * 2:
        return 0.5 if gain > 0 else -0.5
    return rng.choice([0.0, 0.0, 0.125, -0.125])


def _accepted(draw: Draw, gain: float, races: int = 150) -> tuple[float, float]:
    """Return the share of races that accept, and the mean number of pairs."""
    rng = random.Random(f"{draw.__name__} {gain}")
    ends = [_race([draw(rng, gain) for _ in range(48)]) for _ in range(races)]
    return fmean(end[0] for end in ends), fmean(end[1] for end in ends)


@pytest.mark.parametrize("draw", [_pass_or_fail, _gated, _mended])
def test_noise_is_seldom_accepted_and_costs_half_of_what_it_may(draw: Draw) -> None:
    accepted, pairs = _accepted(draw, 0.0)
    assert accepted < 0.33, "better on 12 pairs alone is accepted in 0.4 and more"
    assert pairs < 32


@pytest.mark.parametrize(
    ("draw", "gain", "least"),
    [(_pass_or_fail, 0.2, 0.8), (_gated, 0.1, 0.65), (_gated, 0.2, 0.9), (_mended, 0.05, 0.7),
     (_mended, 0.1, 0.9)],
)  # fmt: skip
def test_a_real_gain_is_found(draw: Draw, gain: float, least: float) -> None:
    assert _accepted(draw, gain)[0] > least


@pytest.mark.parametrize("draw", [_pass_or_fail, _gated, _mended])
def test_a_clear_loser_is_dropped_early(draw: Draw) -> None:
    accepted, pairs = _accepted(draw, -0.2)
    assert accepted < 0.06
    assert pairs < 17
