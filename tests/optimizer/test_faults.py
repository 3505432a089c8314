"""Which faults a proposal is to mend, and which of its edits are kept."""

from __future__ import annotations

import random
from statistics import fmean

from cotune.agents.prompts import PromptBundle
from cotune.optimizer.experience import Experience
from cotune.optimizer.faults import Fault, helpful_part, mended, said_of, to_mend

from .test_experience import SEED, played

CHILD = SEED.with_texts({"a": "A1", "b": "B1"})
DIET, PRICE = Fault("diet", ("a",)), Fault("price", ("b",))


def known(bundle: PromptBundle, *blamed: tuple[str, str], times: int = 4) -> Experience:
    return Experience.of((bundle, [played(f"{number}", *blamed) for number in range(times)]))


def test_what_happened_once_is_no_fault() -> None:
    assert to_mend(known(SEED, ("a", "diet"), times=1), SEED, ["a", "b"]) == []
    assert to_mend(known(SEED, ("a", "diet")), SEED, ["a", "b"]) == [DIET]


def test_what_is_rare_beside_the_gravest_fault_waits_and_is_known_to_be_rare() -> None:
    rare = Experience.of((SEED, [played(f"{n}", *[("b", "price")] * (n < 3)) for n in range(20)]))
    assert to_mend(rare, SEED, ["a", "b"]) == [Fault("price", ("b",), often=False)]
    both = [played(f"{n}", ("a", "diet"), *[("b", "price")] * (n < 3)) for n in range(20)]
    assert to_mend(Experience.of((SEED, both)), SEED, ["a", "b"]) == [DIET]


def test_each_agent_has_one_fault_at_a_time_the_gravest() -> None:
    found = known(SEED, ("a", "diet"), ("b", "price"))
    found.add(SEED, [played("more", ("a", "price"), ("a", "diet"))] * 2)
    found.add(SEED, [played("and more", ("a", "price"))])
    assert to_mend(found, SEED, ["a", "b"]) == [DIET]
    assert to_mend(known(SEED, ("a", "diet"), ("b", "price")), SEED, ["a", "b"]) == [DIET, PRICE]
    assert to_mend(known(SEED, ("a", "diet"), ("b", "price")), SEED, ["b"]) == [PRICE]


def test_who_shares_the_blame_shares_the_fault() -> None:
    shared = known(SEED, ("a", "diet"), ("b", "diet"))
    assert to_mend(shared, SEED, ["a", "b"]) == [Fault("diet", ("a", "b"))]


def test_only_texts_whose_fault_fell_are_kept() -> None:
    found = known(SEED, ("a", "diet"), ("b", "price"))
    found.add(CHILD, [played(f"{number}", ("b", "price")) for number in range(4)])
    fell = mended(found, SEED, CHILD, [DIET, PRICE])
    assert fell == {DIET: True, PRICE: False}
    assert helpful_part(SEED, CHILD, fell) == SEED.with_texts({"a": "A1"})
    assert said_of(fell) == "the edits for diet helped; as often as before fails price"
    assert helpful_part(SEED, CHILD, {DIET: False, PRICE: False}) == SEED
    assert helpful_part(SEED, CHILD, {DIET: True, PRICE: True}) == CHILD


def test_a_text_that_no_fault_asked_for_goes_with_the_others() -> None:
    assert helpful_part(SEED, CHILD, {DIET: True}) == CHILD
    assert helpful_part(SEED, CHILD, {DIET: False}) == SEED


def test_a_criterion_that_never_applied_to_the_child_is_not_known_to_be_mended() -> None:
    found = known(SEED, ("a", "diet"))
    found.add(CHILD, [played("1", applied=["price"])])
    assert mended(found, SEED, CHILD, [DIET]) == {DIET: False}


def _share_kept(before: float, after: float) -> float:
    """Return how often an edit is kept whose fault fails so often of 12 times, then of 4."""
    rng = random.Random(f"{before} {after}")

    def kept() -> bool:
        found = Experience()
        for bundle, chance, times in ((SEED, before, 12), (CHILD, after, 4)):
            blamed = [[("a", "diet")] if rng.random() < chance else [] for _ in range(times)]
            found.add(bundle, [played(f"{n}", *one) for n, one in enumerate(blamed)])
        return mended(found, SEED, CHILD, [DIET])[DIET]

    return fmean(kept() for _ in range(300))


def test_noise_keeps_few_edits_and_loses_few() -> None:
    assert _share_kept(0.85, 0.85) < 0.2
    assert _share_kept(0.85, 0.15) > 0.8
