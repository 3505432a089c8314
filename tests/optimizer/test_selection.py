"""Selection: fresh repeats decide, so that luck in the search wins nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cotune.optimizer.candidate import Candidate, Status
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.rollout import Rollout
from cotune.optimizer.selection import Choice, choose
from cotune.optimizer.settings import Selection
from cotune.simulation.journal import Journal

from .tasks import FAULT, FakeTask, candidate, evaluator, pool, splits

SIZE = 8
VAL = splits(val=SIZE).val
Fresh = dict[str, float]
"""The score of each text in every fresh rollout."""


def _seen(number: int, text: str, score: float, critical: str = "") -> Candidate:
    """Build a candidate that scored so in the search."""
    failures = (critical,) if critical else ()
    val = [Rollout(example.id, score, critical_failures=failures) for example in VAL]
    return candidate(number, text, val, Status.ACCEPTED if number else Status.SEED)


async def _choose(
    folder: Path, fresh: Fresh, *candidates: Candidate, task: FakeTask | None = None, **how: Any
) -> Choice:
    task = task or FakeTask(lambda example, text, repeat: fresh[text], splits(val=SIZE))
    with Journal(folder / "journal") as journal:
        chosen = Selection(**{"finalists": 2, **how})
        return await choose(pool(*candidates), VAL, evaluator(task, journal), chosen)


async def test_the_best_over_all_rollouts_wins(tmp_path: Path) -> None:
    fresh = {"seed": 0.5, "good": 0.8, "better": 0.9}
    every = [_seen(0, "seed", 0.5), _seen(1, "good", 0.7), _seen(2, "better", 0.7)]
    choice = await _choose(tmp_path, fresh, *every)
    assert choice.winner.number == 2
    assert choice.reason == "best of 2 finalists over all their val rollouts (0.800)"
    assert {one.candidate.number: one.fresh for one in choice.finalists} == {
        1: pytest.approx(0.8),
        2: pytest.approx(0.9),
    }


async def test_a_lucky_candidate_does_not_win(tmp_path: Path) -> None:
    fresh = {"seed": 0.5, "lucky": 0.4, "solid": 0.7}
    every = [_seen(0, "seed", 0.5), _seen(1, "lucky", 1.0), _seen(2, "solid", 0.65)]
    assert (await _choose(tmp_path, fresh, *every)).winner.number == 2


async def test_the_seed_stays_when_nothing_is_better_on_fresh_repeats(tmp_path: Path) -> None:
    fresh = {"seed": 0.5, "lucky": 0.5, "luckier": 0.3}
    every = [_seen(0, "seed", 0.5), _seen(1, "lucky", 0.8), _seen(2, "luckier", 0.9)]
    choice = await _choose(tmp_path, fresh, *every)
    assert choice.winner.number == 0
    assert len(choice.finalists) == 2
    assert "no finalist beat the seed on fresh repeats of val; candidate 2: not better" in (
        choice.reason
    )


async def test_an_unlucky_seed_is_no_reason_to_ship_a_prompt(tmp_path: Path) -> None:
    fresh = {"seed": 0.7, "other": 0.6}
    every = [_seen(0, "seed", 0.1), _seen(1, "other", 0.6)]
    choice = await _choose(tmp_path, fresh, *every)
    assert choice.winner.number == 0
    assert "candidate 1: not better (0.700 → 0.600 on 8 examples)" in choice.reason


async def test_without_a_better_candidate_nothing_is_run_again(tmp_path: Path) -> None:
    task = FakeTask()
    every = [_seen(0, "seed", 0.5), _seen(1, "same", 0.5), _seen(2, "worse", 0.2)]
    choice = await _choose(tmp_path, {}, *every, task=task)
    assert (choice.winner.number, choice.finalists) == (0, ())
    assert choice.reason == "no candidate beat the seed on val"
    assert not task.played


async def test_only_the_best_are_run_again_as_often_as_asked(tmp_path: Path) -> None:
    task = FakeTask(lambda example, text, repeat: 0.9)
    every = [_seen(number, f"text {number}", 0.5 + number / 10) for number in range(5)]
    await _choose(tmp_path, {}, *every, task=task, finalists=2, repeats=3)
    assert {text for _, text, _ in task.played} == {"text 0", "text 3", "text 4"}
    assert task.played.total() == (2 + 1) * SIZE * 3, "as planned"
    assert {repeat for _, _, repeat in task.played} == {1, 2, 3}, "never the search's own repeat"
    assert set(task.played.values()) == {1}


async def test_the_shorter_of_two_equals_wins(tmp_path: Path) -> None:
    fresh = {"seed": 0.5, "much longer": 0.8, "short": 0.8}
    every = [_seen(0, "seed", 0.5), _seen(1, "much longer", 0.7), _seen(2, "short", 0.7)]
    assert (await _choose(tmp_path, fresh, *every)).winner.number == 2


async def test_a_critical_regression_on_val_is_never_run_again(tmp_path: Path) -> None:
    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
        return ("no_allergen",) if text == "unsafe" else ()

    task = FakeTask(lambda example, text, repeat: 0.5, splits(val=SIZE), critical=critical)
    every = [_seen(0, "seed", 0.5), _seen(1, "unsafe", 1.0, critical="no_allergen")]
    choice = await _choose(tmp_path, {}, *every, task=task)
    assert (choice.winner.number, choice.finalists) == (0, ())
    assert {repeat for _, _, repeat in task.played} == {-1}, "but to see whether it happens again"


async def test_a_critical_failure_that_does_not_happen_again_is_bad_luck(tmp_path: Path) -> None:
    every = [_seen(0, "seed", 0.5), _seen(1, "unlucky", 1.0, critical="no_allergen")]
    choice = await _choose(tmp_path, {"seed": 0.5, "unlucky": 1.0}, *every)
    assert choice.winner.number == 1


async def test_a_critical_regression_on_fresh_repeats_is_never_chosen(tmp_path: Path) -> None:
    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
        return ("no_allergen",) if text == "unsafe" and example == VAL[0] else ()

    def score(example: RecordedCall, text: str, repeat: int) -> float:
        return 0.5 if text == "seed" else 0.9

    task = FakeTask(score, splits(val=SIZE), critical=critical)
    every = [_seen(0, "seed", 0.5), _seen(1, "unsafe", 1.0)]
    choice = await _choose(tmp_path, {}, *every, task=task)
    assert choice.winner.number == 0
    assert "critical criterion no_allergen fails more often" in choice.reason
    safe = [*every, _seen(2, "safe", 0.6)]
    assert (await _choose(tmp_path, {}, *safe, task=task)).winner.number == 2


async def test_what_a_fault_hit_counts_on_neither_side(tmp_path: Path) -> None:
    """The candidate lost the hardest example, which alone would make it look better."""
    scores = [0.0, *[1.0] * (SIZE - 1)]
    seed = [Rollout(one.id, score) for one, score in zip(VAL, scores, strict=True)]
    lost = [Rollout(VAL[0].id, None, fault=FAULT), *seed[1:]]
    every = [candidate(0, "seed", seed, Status.SEED), candidate(1, "same", lost, Status.ACCEPTED)]
    choice = await _choose(tmp_path, {"same": 1.0}, *every)
    assert choice.reason == "no candidate beat the seed on val"


# The winner's curse


async def test_a_finalists_gain_is_reported_less_the_luck_that_is_in_it(tmp_path: Path) -> None:
    """Half of the examples are won, the others lost by less: a gain that may well be luck."""

    def score(example: RecordedCall, text: str, repeat: int) -> float:
        if text == "seed":
            return 0.5
        return 1.0 if VAL.index(example) % 2 else 0.2

    every = [
        candidate(
            number,
            text,
            [Rollout(one.id, score(one, text, 0)) for one in VAL],
            Status.ACCEPTED if number else Status.SEED,
        )
        for number, text in enumerate(["seed", "unsteady"])
    ]
    choice = await _choose(tmp_path, {}, *every, task=FakeTask(score, splits(val=SIZE)))
    assert choice.winner.number == 1
    [one] = choice.finalists
    assert one.gain == pytest.approx(0.1)
    assert one.shrunk == 0, "less than its error"
    steady = await _choose(
        tmp_path / "other",
        {"seed": 0.5, "steady": 0.6},
        _seen(0, "seed", 0.5),
        _seen(1, "steady", 0.6),
    )
    assert steady.finalists[0].shrunk == pytest.approx(0.1)


async def test_a_steady_gain_is_preferred_to_a_larger_but_wilder_one(tmp_path: Path) -> None:
    def score(example: RecordedCall, text: str, repeat: int) -> float:
        wild = 1.0 if VAL.index(example) < 3 else 0.32
        return {"seed": 0.3, "steady": 0.54, "wild": wild}[text]

    every = [
        candidate(
            number,
            text,
            [Rollout(one.id, score(one, text, 0)) for one in VAL],
            Status.ACCEPTED if number else Status.SEED,
        )
        for number, text in enumerate(["seed", "steady", "wild"])
    ]
    choice = await _choose(tmp_path, {}, *every, task=FakeTask(score, splits(val=SIZE)))
    gains = {one.candidate.number: one.gain for one in choice.finalists}
    assert gains[2] > gains[1]
    assert choice.winner.number == 1


@pytest.mark.parametrize("seen_before", [True, False])
async def test_more_critical_failures_are_never_chosen_whatever_the_total(
    seen_before: bool, tmp_path: Path
) -> None:
    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
        return ("no_allergen",) if text == "unsafe" else ()

    task = FakeTask(
        lambda example, text, repeat: float(text == "unsafe"), splits(val=SIZE), critical=critical
    )
    unsafe = _seen(1, "unsafe", 1.0, critical="no_allergen" if seen_before else "")
    choice = await _choose(tmp_path, {}, _seen(0, "seed", 0.0), unsafe, task=task)
    assert choice.winner.number == 0
