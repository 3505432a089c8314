"""Splits by family: whole families, near the shares wanted, even, and the same for a seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cotune.agents.errors import UsageError
from cotune.simulation.scenario import Outcome, Scenario
from cotune.simulation.scenario_file import load_scenarios
from cotune.simulation.scenario_split import Shares, split_scenarios


def family(name: str, size: int = 4, tag: str = "t", outcome: Outcome = Outcome.ACHIEVED) -> list:
    return [
        Scenario(id=f"{name}-{n}", family=name, goal="Shop.", tags=(tag,), outcome=outcome)
        for n in range(size)
    ]


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=3, max_size=30),
    tags=st.lists(st.sampled_from("abc"), min_size=30, max_size=30),
    seed=st.integers(0, 1000),
)
def test_families_stay_whole_nothing_is_lost_and_no_split_is_empty(
    sizes: list[int], tags: list[str], seed: int
) -> None:
    scenarios = [
        one for n, (size, tag) in enumerate(zip(sizes, tags, strict=False))
        for one in family(f"f{n}", size, tag)
    ]  # fmt: skip
    splits = split_scenarios(scenarios, seed=seed)
    assert list(splits) == ["train", "val", "test"]
    assert all(splits.values())
    homes = {(one.family, name) for name, members in splits.items() for one in members}
    assert len(homes) == len(sizes), "a family is in one split"
    assert Counter(one.id for members in splits.values() for one in members) == Counter(
        one.id for one in scenarios
    )


def test_the_pack_is_split_near_the_shares_with_even_outcomes() -> None:
    scenarios = load_scenarios("grocery")
    for seed in range(5):
        splits = split_scenarios(scenarios, seed=seed)
        for name, share in {"train": 0.5, "val": 0.2, "test": 0.3}.items():
            assert len(splits[name]) / len(scenarios) == pytest.approx(share, abs=0.05)
            for outcome in Outcome:
                whole = sum(one.outcome is outcome for one in scenarios)
                part = sum(one.outcome is outcome for one in splits[name])
                assert part / whole == pytest.approx(share, abs=0.15)


def test_tags_are_spread_even_when_they_are_rare() -> None:
    scenarios = [one for n in range(12) for one in family(f"common{n}")]
    scenarios += [one for n in range(3) for one in family(f"rare{n}", tag="rare")]
    thirds = Shares(train=0.34, val=0.33, test=0.33)
    splits = split_scenarios(scenarios, thirds)
    assert [sum("rare" in one.tags for one in members) for members in splits.values()] == [4, 4, 4]


def test_a_tag_of_one_family_does_not_always_go_to_the_largest_split() -> None:
    scenarios = [one for n in range(9) for one in family(f"f{n}", tag=f"only{n}")]
    homes = set()
    for seed in range(20):
        splits = split_scenarios(scenarios, seed=seed)
        homes |= {name for name, members in splits.items() if "only0" in members[0].tags}
    assert homes == {"train", "val", "test"}


def test_a_seed_decides_and_the_order_of_the_file_does_not() -> None:
    scenarios = load_scenarios("grocery")

    def homes(seed: int, given: list[Scenario]) -> dict[str, set[str]]:
        splits = split_scenarios(given, seed=seed)
        return {name: {one.family for one in members} for name, members in splits.items()}

    assert homes(1, list(scenarios)) == homes(1, list(reversed(scenarios)))
    assert homes(1, list(scenarios)) != homes(2, list(scenarios))
    in_order = [one.id for one in split_scenarios(scenarios)["test"]]
    assert in_order == [one.id for one in scenarios if one.id in set(in_order)]


def test_too_few_families_are_refused() -> None:
    with pytest.raises(UsageError, match="2 families cannot be split into train, val, test"):
        split_scenarios([*family("a", 50), *family("b", 50)])


@pytest.mark.parametrize("shares", [{"train": 0.9}, {"train": 0.0}, {"val": -0.1, "test": 0.6}])
def test_shares_are_all_there_is_and_none_is_nothing(shares: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Shares(**shares)
