"""Merging: what two front members learned apart, and nothing that was had before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.candidate import Candidate, Pool, Status
from cotune.optimizer.merge import merged
from cotune.optimizer.rollout import Rollout

SEED = PromptBundle.of(Prompt("a", "A0"), Prompt("b", "B0"), Prompt("c", "C0"))


def add(
    pool: Pool, texts: Mapping[str, str], parent: int | None, scores: Sequence[float | None]
) -> Candidate:
    status = Status.SEED if parent is None else Status.ACCEPTED
    val = [Rollout(f"v{number}", score) for number, score in enumerate(scores)]
    return pool.add(SEED.with_texts(texts), parent, status, "", 0, val=val)


def two_branches(first: Sequence[float | None], second: Sequence[float | None]) -> Pool:
    """The seed with two children: one changed a, the other b."""
    pool = Pool()
    add(pool, {}, None, [0.0] * len(first))
    add(pool, {"a": "A1"}, 0, first)
    add(pool, {"b": "B1"}, 0, second)
    return pool


def test_what_two_learned_apart_is_put_together() -> None:
    pool = two_branches([1, 0], [0, 1])
    for parent in (1, 2):
        both = merged(pool, pool.candidates[parent])
        assert both is not None
        assert both.texts() == {"a": "A1", "b": "B1", "c": "C0"}


def test_what_the_parent_changed_itself_it_keeps() -> None:
    pool = Pool()
    add(pool, {}, None, [0, 0])
    parent = add(pool, {"a": "A1", "c": "C1"}, 0, [1, 0])
    add(pool, {"a": "A2", "b": "B2"}, 0, [0, 1])
    both = merged(pool, parent)
    assert both is not None
    assert both.texts() == {"a": "A1", "b": "B2", "c": "C1"}


def test_the_nearest_ancestor_counts() -> None:
    pool = Pool()
    add(pool, {}, None, [0, 0, 0])
    add(pool, {"a": "A1"}, 0, [0.5, 0.5, 0.5])
    parent = add(pool, {"a": "A2"}, 1, [1, 0.5, 0])
    add(pool, {"a": "A1", "b": "B1"}, 1, [0, 0.5, 1])
    both = merged(pool, parent)
    assert both is not None
    assert both.texts() == {"a": "A2", "b": "B1", "c": "C0"}, "A1 is what both come from"


def test_the_partner_with_most_wins_is_taken_first_then_the_next() -> None:
    pool = two_branches([1, 0, 0], [0, 1, 0])
    add(pool, {"c": "C1"}, 0, [0, 0.9, 1])
    parent = pool.candidates[1]
    first = merged(pool, parent)
    assert first is not None
    assert first.texts() == {"a": "A1", "b": "B0", "c": "C1"}
    pool.add(first, 1, Status.REJECTED, "", 0)
    second = merged(pool, parent)
    assert second is not None
    assert second.texts() == {"a": "A1", "b": "B1", "c": "C0"}
    pool.add(second, 1, Status.REFUSED, "", 0)
    assert merged(pool, parent) is None


def test_a_partner_that_wins_nothing_or_is_off_the_front_is_none() -> None:
    assert merged(two_branches([1, 1], [0, 1]), two_branches([1, 1], [0, 1]).candidates[1]) is None
    pool = two_branches([1, 0, 0], [0, 0.5, 0])
    add(pool, {"a": "A1", "c": "C1"}, 1, [1, 0.5, 0.1])
    assert merged(pool, pool.candidates[1]) is None, "2 is dominated, 3 is its own child"


def test_examples_that_a_fault_hit_count_for_nobody() -> None:
    pool = two_branches([1, None], [0, 1])
    assert merged(pool, pool.candidates[1]) is None


def test_candidates_without_a_common_ancestor_are_not_merged() -> None:
    pool = two_branches([1, 0], [0, 1])
    stranger = add(pool, {"c": "C9"}, None, [0.5, 2])
    assert merged(pool, stranger) is None


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=6))
def test_a_merge_is_new_made_of_what_is_there_and_the_same_again(scores: list[list[int]]) -> None:
    pool = Pool()
    add(pool, {}, None, [0.0] * 3)
    for number, found in enumerate(scores):
        texts = {"abc"[number % 3]: f"text {number}"}
        add(pool, texts, number // 2, [float(score) for score in found])
    for parent in pool.candidates:
        both = merged(pool, parent)
        assert both == merged(pool, parent)
        if both is not None:
            assert both not in [candidate.bundle for candidate in pool.candidates]
            for agent in SEED:
                assert both[agent] in [candidate.bundle[agent] for candidate in pool.candidates]
