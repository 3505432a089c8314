"""Component selection: where the blame is, now and then elsewhere, and always the same."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.optimizer.component_selection import (
    AllAgents,
    ByBlame,
    RoundRobin,
    component_selection,
)
from cotune.optimizer.rollout import Rollout
from cotune.optimizer.settings import Search

AGENTS = ["briefer", "router", "search"]


def blamed(**points: float) -> list[Rollout]:
    return [Rollout("one", 0.5, blame=points), Rollout("two", 1.0)]


def test_agents_are_drawn_by_the_points_lost_through_them() -> None:
    select = ByBlame(1, 0.0, 0)
    rollouts = [*blamed(router=6.0), *blamed(router=3.0, search=3.0)]
    counts = Counter(agent for draw in range(2000) for agent in select(rollouts, AGENTS, draw))
    assert counts["briefer"] == 0
    assert counts["router"] / 2000 == pytest.approx(0.75, abs=0.04)


def test_without_exploration_no_more_are_drawn_than_are_blamed() -> None:
    select = ByBlame(3, 0.0, 0)
    assert select(blamed(router=2.0), AGENTS, 0) == ["router"]
    assert set(select(blamed(router=2.0, search=0.1), AGENTS, 0)) == {"router", "search"}


def test_exploration_reaches_agents_without_blame() -> None:
    counts = Counter(
        agent
        for draw in range(3000)
        for agent in ByBlame(1, 0.3, 0)(blamed(router=1), AGENTS, draw)
    )
    assert counts["briefer"] / 3000 == pytest.approx(0.1, abs=0.03)
    assert counts["search"] / 3000 == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("rollouts", [[], blamed(), blamed(stranger=9.0)])
def test_when_nobody_is_blamed_all_are_alike(rollouts: list[Rollout]) -> None:
    chosen = [ByBlame(2, 0.0, 0)(rollouts, AGENTS, draw) for draw in range(900)]
    counts = Counter(agent for one in chosen for agent in one)
    assert all(counts[agent] / 900 == pytest.approx(1 / 3, abs=0.08) for agent in AGENTS)


@given(
    st.dictionaries(st.sampled_from(AGENTS), st.floats(0, 20), max_size=3),
    st.integers(1, 4),
    st.floats(0, 1),
    st.integers(0, 50),
)
def test_a_choice_is_distinct_known_bounded_and_repeatable(
    blame: dict[str, float], at_once: int, exploration: float, draw: int
) -> None:
    select = ByBlame(at_once, exploration, 7)
    chosen = select(blamed(**blame), AGENTS, draw)
    assert 1 <= len(chosen) == len(set(chosen)) <= min(at_once, len(AGENTS))
    assert set(chosen) <= set(AGENTS)
    assert select(blamed(**blame), AGENTS, draw) == chosen


def test_another_seed_or_number_is_another_draw() -> None:
    rollouts = blamed(briefer=1, router=1, search=1)
    draws = [[tuple(ByBlame(1, 0, s)(rollouts, AGENTS, n)) for n in range(20)] for s in (0, 1)]
    assert draws[0] != draws[1]
    assert len(set(draws[0])) == 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("blame", ByBlame(2, 0.1, 5)),
        ("round_robin", RoundRobin()),
        ("all", AllAgents()),
    ],
)
def test_the_settings_say_which(
    name: Literal["blame", "round_robin", "all"], expected: object
) -> None:
    assert component_selection(Search(agents=name), 5) == expected


def test_round_robin_goes_round_and_all_is_all() -> None:
    assert [RoundRobin()([], AGENTS, n) for n in range(4)] == [[AGENTS[n % 3]] for n in range(4)]
    assert AllAgents()([], AGENTS, 0) == AGENTS
